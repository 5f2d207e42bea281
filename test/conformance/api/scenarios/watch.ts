/** Watches: history, live events, selectors, bookmarks, WatchList. */
import type { Scenario } from '../scenario.ts';
import { apply, del, get, listVersion, merge, mergePatch, namespace, post, rememberVersion, step, task } from './requests.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const labelled = (name: string, labels: object = {}) => merge(name, {}, { labels: { watch: 'yes', ...labels } });
const mine = { labelSelector: 'watch=yes' };
const from = { watch: 'true', resourceVersion: '{{start}}' };
const brief = (body: unknown) =>
  Array.isArray(body)
    ? body.map((event: { type: string; object: { metadata?: { name?: string; labels?: object; annotations?: object } } }) => [
        event.type,
        event.object.metadata?.name ?? '',
        event.object.metadata?.labels ?? {},
      ])
    : body;

export const watchScenarios: Scenario[] = [
  {
    name: 'watch',
    steps: [
      step('start', get('merges', mine), listVersion),
      step('create a', post('merges', labelled('watch-a')), rememberVersion),
      step('change a', mergePatch('merges/watch-a', { spec: { allowDirty: true } })),
      step('change its status', mergePatch('merges/watch-a/status', { status: { phase: 'Merging' } })),
      step('change nothing', mergePatch('merges/watch-a', { spec: { allowDirty: true } })),
      step('create b', post('merges', labelled('watch-b'))),
      step('delete a', del('merges/watch-a')),
      step('history', get('merges', { ...from, ...mine }), { events: 5 }),
      step('history from the creation on', get('merges', { ...mine, watch: 'true', resourceVersion: '{{rv}}' }), {
        events: 4,
        pick: brief,
      }),
      step('all namespaces', get('/apis/agentiso.dev/v1alpha1/merges', { ...from, ...mine }), { events: 5, pick: brief }),
      step(
        'the watch prefix',
        get('/apis/agentiso.dev/v1alpha1/watch/namespaces/default/merges', { resourceVersion: '{{start}}', ...mine }),
        { events: 5, pick: brief },
      ),
      step('the watch prefix, all namespaces', get('/apis/agentiso.dev/v1alpha1/watch/merges', { resourceVersion: '{{start}}', ...mine }), {
        events: 5,
        pick: brief,
      }),
      step(
        'the watch prefix, one name',
        get('/apis/agentiso.dev/v1alpha1/watch/namespaces/default/merges/watch-b', { resourceVersion: '{{start}}' }),
        { events: 1, pick: brief },
      ),
      step('a name', get('merges/watch-a', from), { events: 4, pick: brief }),
      step('a name and another field selector', get('merges/watch-a', { ...from, fieldSelector: 'metadata.name=watch-b' }), {
        events: 1,
        pick: brief,
      }),
      step('by field selector', get('merges', { ...from, fieldSelector: 'metadata.name=watch-b' }), { events: 1, pick: brief }),
      step('by a declared field', get('merges', { ...from, ...mine, fieldSelector: 'status.phase=Merging' }), { events: 2, pick: brief }),
      step('version 0', get('merges', { ...mine, watch: 'true', resourceVersion: '0' }), { events: 1, settle: true }),
      step('no version', get('merges', { ...mine, watch: 'true' }), { events: 1 }),
      step(
        'version 0 of nothing',
        get('merges', { watch: 'true', resourceVersion: '0', labelSelector: 'watch=none', timeoutSeconds: '1' }),
      ),
      step('live', get('merges', { ...mine, watch: 'true' }), {
        initial: 1,
        events: 4,
        meanwhile: [
          post('merges', labelled('watch-c')),
          mergePatch('merges/watch-c', { spec: { allowDirty: true } }),
          del('merges/watch-c'),
        ],
        pick: brief,
      }),
      step('live with a finalizer', get('merges', { ...mine, watch: 'true' }), {
        initial: 1,
        events: 6,
        meanwhile: [
          post('merges', { ...labelled('watch-d'), metadata: { name: 'watch-d', labels: { watch: 'yes' }, finalizers: ['a.b/c'] } }),
          del('merges/watch-d'),
          del('merges/watch-d'),
          mergePatch('merges/watch-d', { metadata: { labels: { again: 'x' } } }),
          mergePatch('merges/watch-d', { metadata: { finalizers: null } }),
          post('merges', labelled('watch-e')),
        ],
      }),
      step('dry runs send nothing', get('merges', { ...mine, watch: 'true', fieldSelector: 'metadata.name=watch-f' }), {
        events: 1,
        meanwhile: [post('merges', labelled('watch-f'), { dryRun: 'All' }), post('merges', labelled('watch-f'))],
        pick: brief,
      }),
      step('apply that changes nothing sends nothing', get('merges', { watch: 'true', fieldSelector: 'metadata.name=watch-g' }), {
        events: 2,
        meanwhile: [
          apply('merges/watch-g', merge('watch-g')),
          apply('merges/watch-g', merge('watch-g')),
          mergePatch('merges/watch-g', { metadata: { labels: { done: 'x' } } }),
        ],
        pick: brief,
      }),
      step('True counts', get('merges', { ...from, ...mine, watch: 'True' }), { events: 1, pick: brief }),
      step('1 counts', get('merges', { ...from, ...mine, watch: '1' }), { events: 1, pick: brief }),
      step('an empty watch', get('merges', { ...from, ...mine, watch: '' }), { events: 1, pick: brief }),
      step('a timeout', get('merges', { ...from, labelSelector: 'watch=none', timeoutSeconds: '1' })),
      step('a timeout with limit', get('merges', { ...from, ...mine, timeoutSeconds: '1', limit: '1' }), {
        pick: (body) => (Array.isArray(body) ? body.length > 1 : body),
      }),
    ],
  },
  {
    name: 'watch-selectors',
    steps: [
      step('start', get('merges', mine), listVersion),
      step('create outside', post('merges', merge('watch-selectors-a'))),
      step('enter', mergePatch('merges/watch-selectors-a', { metadata: { labels: { watch: 'yes', n: '1' } } })),
      step('stay', mergePatch('merges/watch-selectors-a', { metadata: { labels: { n: '2' } } })),
      step('leave', mergePatch('merges/watch-selectors-a', { metadata: { labels: { watch: 'no' } } })),
      step('outside', mergePatch('merges/watch-selectors-a', { metadata: { labels: { n: '3' } } })),
      step('enter again', mergePatch('merges/watch-selectors-a', { metadata: { labels: { watch: 'yes' } } })),
      step('delete', del('merges/watch-selectors-a')),
      step('the watch', get('merges', { ...from, ...mine }), { events: 5 }),
      step('a table', get('merges', { ...from, ...mine }, { accept: table }), { events: 5 }),
      step('a table with whole objects', get('merges', { ...from, ...mine, includeObject: 'Object' }, { accept: table }), { events: 2 }),
      step(
        'metadata only',
        get('merges', { ...from, ...mine }, { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' }),
        { events: 5 },
      ),
      step('by the status', post('tasks', task('watch-selectors-t')), { remember: { start: '/metadata/resourceVersion' } }),
      step('phase Running', mergePatch('tasks/watch-selectors-t/status', { status: { phase: 'Running' } })),
      step('phase Failed', mergePatch('tasks/watch-selectors-t/status', { status: { phase: 'Failed' } })),
      step('running tasks', get('tasks', { ...from, fieldSelector: 'status.phase=Running' }), { events: 2, pick: brief }),
      step(
        'tasks that are not running',
        get('tasks', { ...from, fieldSelector: 'status.phase!=Running,metadata.name=watch-selectors-t' }),
        { events: 2, pick: brief },
      ),
    ],
  },
  {
    name: 'watch-list',
    steps: [
      step('create a', post('merges', labelled('watch-list-a'))),
      step('create b', post('merges', labelled('watch-list-b'))),
      step(
        'initial events and the bookmark',
        get('merges', {
          ...mine,
          watch: 'true',
          sendInitialEvents: 'true',
          resourceVersionMatch: 'NotOlderThan',
          allowWatchBookmarks: 'true',
        }),
        { events: 3 },
      ),
      step(
        'and then live',
        get('merges', {
          ...mine,
          watch: 'true',
          sendInitialEvents: 'true',
          resourceVersionMatch: 'NotOlderThan',
          allowWatchBookmarks: 'true',
        }),
        {
          initial: 3,
          events: 4,
          meanwhile: [post('merges', labelled('watch-list-c'))],
          pick: brief,
        },
      ),
      step(
        'of nothing',
        get('merges', {
          labelSelector: 'watch=none',
          watch: 'true',
          sendInitialEvents: 'true',
          resourceVersionMatch: 'NotOlderThan',
          allowWatchBookmarks: 'true',
        }),
        { events: 1 },
      ),
      step(
        'as a table',
        get(
          'merges',
          { ...mine, watch: 'true', sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' },
          { accept: table },
        ),
        { events: 4 },
      ),
      step(
        'as metadata',
        get(
          'merges',
          { ...mine, watch: 'true', sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' },
          { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' },
        ),
        { events: 4 },
      ),
      step(
        'with version 0',
        get('merges', {
          ...mine,
          watch: 'true',
          resourceVersion: '0',
          sendInitialEvents: 'true',
          resourceVersionMatch: 'NotOlderThan',
          allowWatchBookmarks: 'true',
        }),
        { events: 4, pick: brief, settle: true },
      ),
      step('a list', get('merges', mine), { ...listVersion, pick: (body) => (body as { kind: string }).kind }),
      step(
        'with a version',
        get('merges', { ...mine, ...from, sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' }),
        { events: 4, pick: brief },
      ),
      step(
        'one object',
        get('merges/watch-list-a', {
          watch: 'true',
          sendInitialEvents: 'true',
          resourceVersionMatch: 'NotOlderThan',
          allowWatchBookmarks: 'true',
        }),
        { events: 2, pick: brief },
      ),
      step(
        'without bookmarks',
        get('merges', { ...mine, watch: 'true', sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }),
        { events: 3, pick: brief },
      ),
      step('without match', get('merges', { watch: 'true', sendInitialEvents: 'true', allowWatchBookmarks: 'true' })),
      step(
        'with another match',
        get('merges', { watch: 'true', sendInitialEvents: 'true', resourceVersionMatch: 'Exact', resourceVersion: '{{start}}' }),
      ),
      step(
        'match without sendInitialEvents',
        get('merges', { watch: 'true', resourceVersionMatch: 'NotOlderThan', resourceVersion: '{{start}}' }),
      ),
      step('a continue token', get('merges', { ...mine, watch: 'true', continue: 'x', timeoutSeconds: '1' }), {
        pick: (body) => (Array.isArray(body) ? brief(body) : body),
      }),
      step(
        'sendInitialEvents false',
        get('merges', { ...mine, watch: 'true', sendInitialEvents: 'false', resourceVersionMatch: 'NotOlderThan' }),
        {
          events: 1,
          meanwhile: [post('merges', labelled('watch-list-d'))],
          pick: brief,
        },
      ),
      step(
        'sendInitialEvents false from version 0',
        get('merges', { ...mine, watch: 'true', sendInitialEvents: 'false', resourceVersionMatch: 'NotOlderThan', resourceVersion: '0' }),
        {
          events: 1,
          settle: true,
          meanwhile: [post('merges', labelled('watch-list-e'))],
          pick: brief,
        },
      ),
    ],
  },
  {
    name: 'watch-errors',
    steps: [
      step('a version that is none', get('merges', { watch: 'true', resourceVersion: 'x' })),
      step('a bad label selector', get('merges', { watch: 'true', labelSelector: 'a=b=c' })),
      step('a bad field selector', get('merges', { watch: 'true', fieldSelector: 'bogus=1' })),
      step('a bad timeout', get('merges', { watch: 'true', timeoutSeconds: 'x' }), { compare: 'reason' }),
      step('a bad boolean is true', get('merges', { watch: 'bogus', labelSelector: 'watch=none', timeoutSeconds: '1' })),
      step('not acceptable', get('merges', { watch: 'true' }, { accept: 'text/plain' })),
      step('YAML', get('merges', { watch: 'true', timeoutSeconds: '1', labelSelector: 'watch=none' }, { accept: 'application/yaml' })),
      step(
        'stream=watch',
        get('merges', { watch: 'true', timeoutSeconds: '1', labelSelector: 'watch=none' }, { accept: 'application/json;stream=watch' }),
      ),
      step('a bad includeObject', get('merges', { watch: 'true', includeObject: 'Bogus' }, { accept: table })),
      step(
        'a list as metadata list',
        get(
          'merges',
          { watch: 'true', timeoutSeconds: '1' },
          { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
        ),
      ),
      step('a missing namespace', get('/apis/agentiso.dev/v1alpha1/namespaces/nowhere/merges', { watch: 'true', timeoutSeconds: '1' })),
      step('a missing name', get('merges/watch-errors-none', { watch: 'true', timeoutSeconds: '1' })),
      step('the status', get('merges/watch-errors-none/status', { watch: 'true', timeoutSeconds: '1' })),
      step('a name that cannot be', get('merges', { watch: 'true', fieldSelector: 'metadata.name=a/b', timeoutSeconds: '1' })),
      step('a resource that does not exist', get(`${namespace}/bogus`, { watch: 'true' })),
      step('a version of the future', get('merges', { watch: 'true', resourceVersion: '9999999999999999', timeoutSeconds: '1' })),
      step(
        'a WatchList of the future',
        get('merges', {
          watch: 'true',
          resourceVersion: '9999999999999999',
          sendInitialEvents: 'true',
          resourceVersionMatch: 'NotOlderThan',
          allowWatchBookmarks: 'true',
          timeoutSeconds: '1',
        }),
      ),
      step(
        'bookmarks before the end',
        get('merges', { watch: 'true', allowWatchBookmarks: 'true', labelSelector: 'watch=none', timeoutSeconds: '4' }),
        {
          pick: (body) => (Array.isArray(body) ? body.slice(0, 1) : body),
        },
      ),
      step('no bookmarks that nobody asked for', get('merges', { watch: 'true', labelSelector: 'watch=none', timeoutSeconds: '4' })),
      step('an old version is gone', get('merges', { watch: 'true', resourceVersion: '1' }), { events: 1, pick: (body) => body }),
    ],
  },
];
