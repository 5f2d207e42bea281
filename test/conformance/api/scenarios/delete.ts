/** DELETE of objects and collections, finalizers, preconditions. */
import type { Scenario } from '../scenario.ts';
import { del, get, jsonPatch, merge, mergePatch, post, put, rememberVersion, step } from './requests.ts';

const held = (name: string) => merge(name, {}, { finalizers: ['agentiso.dev/hold'] });
const options = (fields: object) => ({ apiVersion: 'v1', kind: 'DeleteOptions', ...fields });

export const deleteScenarios: Scenario[] = [
  {
    name: 'delete',
    steps: [
      step('nothing', del('merges/delete-none')),
      step('create', post('merges', merge('delete-a'))),
      step('dry run by query', del('merges/delete-a', undefined, { dryRun: 'All' })),
      step('dry run by body', del('merges/delete-a', options({ dryRun: ['All'] }))),
      step('a bad dry run by body', del('merges/delete-a', options({ dryRun: ['Some'] }))),
      step('still there', get('merges/delete-a')),
      step('plain', del('merges/delete-a')),
      step('gone', get('merges/delete-a')),
      step('again', del('merges/delete-a')),
      step('create b', post('merges', merge('delete-b')), rememberVersion),
      step('another uid', del('merges/delete-b', options({ preconditions: { uid: '00000000-0000-0000-0000-000000000001' } }))),
      step('another resourceVersion', del('merges/delete-b', options({ preconditions: { resourceVersion: '1' } }))),
      step(
        'the right uid and another resourceVersion',
        del('merges/delete-b', options({ preconditions: { uid: '{{uid}}', resourceVersion: '1' } })),
      ),
      step('a bad policy', del('merges/delete-b', options({ propagationPolicy: 'Sideways', dryRun: ['All'] }))),
      step(
        'policy and orphanDependents',
        del('merges/delete-b', options({ propagationPolicy: 'Background', orphanDependents: true, dryRun: ['All'] })),
      ),
      step('another kind of body', del('merges/delete-b', { apiVersion: 'v1', kind: 'Pod', dryRun: ['All'] }), { compare: 'reason' }),
      step('a body without kind', del('merges/delete-b', { preconditions: { uid: '00000000-0000-0000-0000-000000000001' } })),
      step(
        'a body in its own group',
        del('merges/delete-b', {
          apiVersion: 'agentiso.dev/v1alpha1',
          kind: 'DeleteOptions',
          preconditions: { uid: '00000000-0000-0000-0000-000000000001' },
        }),
      ),
      step('a body that is no JSON', del('merges/delete-b', '{'), { compare: 'reason' }),
      step('an unknown field in the body', del('merges/delete-b', options({ bogus: 1, dryRun: ['All'] }))),
      step(
        'without content type',
        del('merges/delete-b', options({ preconditions: { resourceVersion: '1' } }), {}, { 'content-type': '' }),
      ),
      step('an unknown content type', del('merges/delete-b', options({}), {}, { 'content-type': 'text/plain' })),
      step('the right preconditions', del('merges/delete-b', options({ preconditions: { uid: '{{uid}}', resourceVersion: '{{rv}}' } }))),
      step('create e', post('merges', merge('delete-e'))),
      step(
        'options in the query count for nothing beside a body',
        del('merges/delete-e', options({ gracePeriodSeconds: -1 }), { dryRun: 'All' }),
      ),
      step('so it is gone', get('merges/delete-e')),
      step('create f', post('merges', merge('delete-f'))),
      step('foreground without finalizers', del('merges/delete-f', options({ propagationPolicy: 'Foreground' }))),
      step('foreground again', del('merges/delete-f', options({ propagationPolicy: 'Foreground' }))),
      step('create g', post('merges', merge('delete-g'))),
      step(
        'orphanDependents',
        del('merges/delete-g', options({ orphanDependents: true }), {}, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }),
      ),
      step('create h', post('merges', merge('delete-h'))),
      step('orphanDependents false', del('merges/delete-h', options({ orphanDependents: false }))),
      step('create i', post('merges', merge('delete-i', {}, { finalizers: ['foregroundDeletion'] }))),
      step('background takes the finalizer of foreground away', del('merges/delete-i', options({ propagationPolicy: 'Background' }))),
      step('create j', post('merges', merge('delete-j', {}, { finalizers: ['foregroundDeletion'] }))),
      step('no policy keeps the finalizer of foreground', del('merges/delete-j')),
      step('create c', post('merges', merge('delete-c'))),
      step('a policy by query', del('merges/delete-c', undefined, { propagationPolicy: 'Background', gracePeriodSeconds: '0' })),
      step('create d', post('merges', merge('delete-d'))),
      step('a bad policy by query', del('merges/delete-d', undefined, { propagationPolicy: 'x', dryRun: 'All' })),
      step('a bad grace period by query', del('merges/delete-d', undefined, { gracePeriodSeconds: 'x', dryRun: 'All' }), {
        compare: 'reason',
      }),
      step(
        'an accepted table',
        del('merges/delete-d', undefined, {}, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' }),
      ),
    ],
  },
  {
    name: 'delete-finalizers',
    steps: [
      step('create', post('merges', held('delete-finalizers-a')), rememberVersion),
      step('dry run', del('merges/delete-finalizers-a', undefined, { dryRun: 'All' })),
      step('delete marks it', del('merges/delete-finalizers-a')),
      step('again', del('merges/delete-finalizers-a')),
      step(
        'again with an old resourceVersion',
        del('merges/delete-finalizers-a', options({ preconditions: { resourceVersion: '{{rv}}' } })),
      ),
      step('read', get('merges/delete-finalizers-a')),
      step('a label can still change', mergePatch('merges/delete-finalizers-a', { metadata: { labels: { a: '1' } } })),
      step('the spec can still change', mergePatch('merges/delete-finalizers-a', { spec: { allowDirty: true } })),
      step('deletionTimestamp cannot be removed', mergePatch('merges/delete-finalizers-a', { metadata: { deletionTimestamp: null } })),
      step(
        'a finalizer cannot be added',
        mergePatch('merges/delete-finalizers-a', { metadata: { finalizers: ['agentiso.dev/hold', 'agentiso.dev/more'] } }),
      ),
      step(
        'the last finalizer cannot be replaced',
        mergePatch('merges/delete-finalizers-a', { metadata: { finalizers: ['agentiso.dev/other'] } }),
      ),
      step('a create finds it', post('merges', merge('delete-finalizers-a'))),
      step(
        'the last finalizer goes in a dry run',
        mergePatch('merges/delete-finalizers-a', { metadata: { finalizers: null } }, { dryRun: 'All' }),
      ),
      step('the last finalizer goes', jsonPatch('merges/delete-finalizers-a', [{ op: 'remove', path: '/metadata/finalizers' }])),
      step('it is gone', get('merges/delete-finalizers-a')),
      step('create b', post('merges', held('delete-finalizers-b'))),
      step('foreground', del('merges/delete-finalizers-b', options({ propagationPolicy: 'Foreground' })), rememberVersion),
      step('then orphan', del('merges/delete-finalizers-b', options({ propagationPolicy: 'Orphan' })), rememberVersion),
      step('then background', del('merges/delete-finalizers-b', options({ propagationPolicy: 'Background' })), rememberVersion),
      step('all finalizers go by put', put('merges/delete-finalizers-b', merge('delete-finalizers-b', {}, { resourceVersion: '{{rv}}' }))),
      step('b is gone', get('merges/delete-finalizers-b')),
      step('a finalizer before deletion', post('merges', held('delete-finalizers-c'))),
      step('is removed', mergePatch('merges/delete-finalizers-c', { metadata: { finalizers: [] } })),
      step('and the object stays', get('merges/delete-finalizers-c')),
    ],
  },
  {
    name: 'delete-collection',
    steps: [
      ...['a', 'b', 'c'].map((one) =>
        step(
          `create ${one}`,
          post('merges', merge(`delete-collection-${one}`, {}, { labels: { set: one === 'c' ? 'two' : 'one', collection: 'x' } })),
        ),
      ),
      step(
        'create d with a finalizer',
        post('merges', {
          ...held('delete-collection-d'),
          metadata: { ...held('delete-collection-d').metadata, labels: { set: 'three', collection: 'x' } },
        }),
      ),
      step('dry run', del('merges', undefined, { labelSelector: 'set=one', dryRun: 'All' })),
      step('by label', del('merges', undefined, { labelSelector: 'set=one' })),
      step('what is left', get('merges', { labelSelector: 'collection=x' })),
      step('by field', del('merges', undefined, { fieldSelector: 'metadata.name=delete-collection-c' })),
      step('nothing matches', del('merges', undefined, { labelSelector: 'set=none' })),
      step('a bad selector', del('merges', undefined, { labelSelector: 'a=b=c' })),
      step('a bad option', del('merges', options({ propagationPolicy: 'x' }), { labelSelector: 'set=none' })),
      step('a finalizer holds', del('merges', undefined, { labelSelector: 'collection=x' })),
      step('held', get('merges', { labelSelector: 'collection=x' })),
    ],
  },
];
