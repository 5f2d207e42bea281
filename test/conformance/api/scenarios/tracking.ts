/** managedFields as clients write them themselves: resets, nonsense, duplicates. */
import type { Scenario } from '../scenario.ts';
import { apply, get, jsonPatch, merge, mergePatch, post, put, rememberVersion, step, task } from './requests.ts';

const bare = (name: string, rest: object = {}) => ({ apiVersion: 'agentiso.dev/v1alpha1', kind: 'Task', metadata: { name }, ...rest });
const owner = (uid: number) => ({
  apiVersion: 'agentiso.dev/v1alpha1',
  kind: 'Team',
  name: 'x',
  uid: `00000000-0000-0000-0000-00000000000${uid}`,
});
const entry = (fields: object) => ({
  manager: 'old',
  operation: 'Update',
  apiVersion: 'agentiso.dev/v1alpha1',
  time: '2020-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': { 'f:title': {} } },
  ...fields,
});
const nonsense = [
  ['another operation', { operation: 'Nonsense' }],
  ['no operation', { operation: undefined }],
  ['another fieldsType', { fieldsType: 'FieldsV9' }],
  ['no apiVersion', { apiVersion: undefined }],
  ['a bad apiVersion', { apiVersion: 'a/b/c' }],
  ['another apiVersion', { apiVersion: 'agentiso.dev/v1beta9' }],
  ['fields that are none', { fieldsV1: { 'x:spec': {} } }],
  ['fields that do not exist', { fieldsV1: { 'f:spec': { 'f:bogus': {} } } }],
  ['no time', { time: undefined }],
  ['no manager', { manager: '' }],
  ['a subresource', { subresource: 'status', fieldsV1: { 'f:status': { 'f:phase': {} } } }],
] as const;

export const trackingScenarios: Scenario[] = [
  {
    name: 'tracking',
    steps: [
      step('creates', apply('tasks/tracking-a', task('tracking-a', { title: 'one' })), rememberVersion),
      step('cleared by merge patch', mergePatch('tasks/tracking-a', { metadata: { managedFields: [{}] } })),
      step('the first apply afterwards', apply('tasks/tracking-a', task('tracking-a', { title: 'one' }))),
      step('cleared by merge patch with an empty list', mergePatch('tasks/tracking-a', { metadata: { managedFields: [] } })),
      step('the next apply afterwards', apply('tasks/tracking-a', task('tracking-a', { title: 'one' })), rememberVersion),
      step('not cleared by null', mergePatch('tasks/tracking-a', { metadata: { managedFields: null } }), rememberVersion),
      step(
        'cleared by put',
        put('tasks/tracking-a', task('tracking-a', { title: 'one' }, { resourceVersion: '{{rv}}', managedFields: [{}] })),
        rememberVersion,
      ),
      step('an update of the untracked', mergePatch('tasks/tracking-a', { spec: { title: 'two' } })),
      step('a status of the untracked', mergePatch('tasks/tracking-a/status', { status: { phase: 'Running' } })),
      step('the first apply of the untracked with a status', apply('tasks/tracking-a', task('tracking-a', { title: 'two' }))),
      step('not cleared on the status', mergePatch('tasks/tracking-a/status', { metadata: { managedFields: [{}] } })),
      step('an update and its opposite', mergePatch('tasks/tracking-a', { spec: { description: 'x' } }, { fieldManager: 'editor' })),
      step('gives the manager up', mergePatch('tasks/tracking-a', { spec: { description: null } }, { fieldManager: 'editor' })),
      step('a manager applies nothing at all', apply('tasks/tracking-a', bare('tracking-a'), { fieldManager: 'empty' })),
      step('the same name updates and applies', mergePatch('tasks/tracking-a', { spec: { priority: 1 } }, { fieldManager: 'one' })),
      step('and conflicts with itself', apply('tasks/tracking-a', task('tracking-a', { title: 'two', priority: 2 }))),
      step(
        'a manager of 128 characters',
        apply('tasks/tracking-a', bare('tracking-a', { spec: { maxAttempts: 4 } }), { fieldManager: 'm'.repeat(128) }),
      ),
      step(
        'a manager that is too long',
        apply('tasks/tracking-a', bare('tracking-a', { spec: { maxAttempts: 4 } }), { fieldManager: 'm'.repeat(129) }),
      ),
      step('a manager with a slash', apply('tasks/tracking-a', bare('tracking-a', { spec: { maxAttempts: 4 } }), { fieldManager: 'a/b' })),
    ],
  },
  {
    name: 'tracking-nonsense',
    steps: [
      ...nonsense.map(([name, fields], index) =>
        step(
          `created with ${name}`,
          post('tasks', task(`tracking-nonsense-c${index}`, { title: 'x' }, { managedFields: [entry(fields)] })),
        ),
      ),
      ...nonsense.flatMap(([name, fields], index) => [
        step(`to be patched with ${name}`, post('tasks', task(`tracking-nonsense-p${index}`, { title: 'x' })), { silent: true }),
        step(
          `patched with ${name}`,
          jsonPatch(`tasks/tracking-nonsense-p${index}`, [{ op: 'replace', path: '/metadata/managedFields', value: [entry(fields)] }]),
        ),
      ]),
      step(
        'two entries of one manager',
        post(
          'tasks',
          task('tracking-nonsense-t', { title: 'x' }, { managedFields: [entry({}), entry({ fieldsV1: { 'f:spec': { 'f:team': {} } } })] }),
        ),
      ),
      step('not a list', post('tasks', task('tracking-nonsense-l', {}, { managedFields: {} })), { compare: 'reason' }),
    ],
  },
  {
    name: 'tracking-owners',
    steps: [
      step('owners twice', post('merges', merge('tracking-owners-a', {}, { ownerReferences: [owner(1), owner(2), owner(1)] }))),
      step('finalizers twice', post('merges', merge('tracking-owners-b', {}, { finalizers: ['a.b/c', 'a.b/d', 'a.b/c'] }))),
      step('owners twice by patch', mergePatch('merges/tracking-owners-b', { metadata: { ownerReferences: [owner(3), owner(3)] } })),
      step(
        'owners twice by apply',
        apply('merges/tracking-owners-c', merge('tracking-owners-c', {}, { ownerReferences: [owner(1), owner(1)] })),
      ),
      step(
        'finalizers twice by apply',
        apply('merges/tracking-owners-d', merge('tracking-owners-d', {}, { finalizers: ['a.b/c', 'a.b/c'] })),
      ),
      step(
        'an owner that blocks',
        post('merges', merge('tracking-owners-e', {}, { ownerReferences: [{ ...owner(1), blockOwnerDeletion: true, controller: true }] })),
      ),
      step(
        'an owner with an unknown field, Strict',
        post('merges', merge('tracking-owners-f', {}, { ownerReferences: [{ ...owner(1), bogus: 1 }] }), { fieldValidation: 'Strict' }),
      ),
      step(
        'an owner with an unknown field, Warn',
        post('merges', merge('tracking-owners-f', {}, { ownerReferences: [{ ...owner(1), bogus: 1 }] })),
      ),
      step(
        'an event as owner',
        post('merges', merge('tracking-owners-g', {}, { ownerReferences: [{ ...owner(1), apiVersion: 'v1', kind: 'Event' }] })),
      ),
      step('an owner that is no object', post('merges', merge('tracking-owners-h', {}, { ownerReferences: ['x'] })), { compare: 'reason' }),
      step('finalizers that are no list', post('merges', merge('tracking-owners-i', {}, { finalizers: 'x' })), { compare: 'reason' }),
      step('read', get('merges/tracking-owners-a')),
    ],
  },
];
