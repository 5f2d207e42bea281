/** What upstream's own tests of the API ask (test/e2e/apimachinery, test/integration/apiserver) and no other scenario does. */
import { at, type Scenario } from '../scenario.ts';
import {
  apply,
  condition,
  del,
  get,
  jsonPatch,
  listVersion,
  merge,
  mergePatch,
  namespace,
  post,
  put,
  rememberVersion,
  step,
  task,
  team,
} from './requests.ts';

const strict = { fieldValidation: 'Strict' };
const ignore = { fieldValidation: 'Ignore' };
const bare = (name: string, rest: object = {}) => ({ apiVersion: 'agentiso.dev/v1alpha1', kind: 'Task', metadata: { name }, ...rest });
const yaml = { 'content-type': 'application/yaml' };
const metadataForm = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const metadataListForm = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const tableForm = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const watchList = { watch: 'true', sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' };
/** Without the order, which follows the second in which each was written. */
const managers = (body: unknown) =>
  (at(body, '/metadata/managedFields') as { manager: string; operation: string; subresource?: string; fieldsV1?: object }[] | undefined)
    ?.map(({ manager, operation, subresource, fieldsV1 }) => ({ manager, operation, subresource, fieldsV1 }))
    .sort((one, other) => (`${one.manager} ${one.subresource}` < `${other.manager} ${other.subresource}` ? -1 : 1)) ?? body;
/** Upstream names only some of the fields, another time others. */
const code = (body: unknown) => at(body, '/code');
const owner = (uid: number, more: object = {}) => ({
  apiVersion: 'agentiso.dev/v1alpha1',
  kind: 'Team',
  name: `x${uid}`,
  uid: `00000000-0000-0000-0000-00000000000${uid}`,
  ...more,
});
const unknownEverywhere = (name: string) =>
  `{"apiVersion":"agentiso.dev/v1alpha1","kind":"Team","metadata":{"name":"${name}","unknownMeta":1,"labels":{"a":"b"},"labels":{"a":"c"}},` +
  '"spec":{"unknown1":"x","description":"a","description":"b","unknownDupe":1,"unknownDupe":2,' +
  '"roles":[{"name":"dev","unknownNested":1,"count":1,"count":2}]},"bogus":true}';
const unknownEverywhereAsYaml = (name: string, rv = '') =>
  `apiVersion: agentiso.dev/v1alpha1\nkind: Team\nmetadata:\n  name: ${name}\n${rv}  unknownMeta: 1\n  labels:\n    a: b\n  labels:\n    a: c\n` +
  'spec:\n  unknown1: x\n  description: a\n  description: b\n  unknownDupe: 1\n  unknownDupe: 2\n' +
  '  roles:\n  - name: dev\n    unknownNested: 1\n    count: 1\n    count: 2\nbogus: true\n';

export const upstreamScenarios: Scenario[] = [
  {
    name: 'strict-bodies',
    steps: [
      step('JSON, Strict', post('teams', unknownEverywhere('strict-bodies-a'), strict)),
      step('JSON, Warn', post('teams', unknownEverywhere('strict-bodies-b'))),
      step('JSON, Ignore', post('teams', unknownEverywhere('strict-bodies-c'), ignore), rememberVersion),
      step('YAML, Strict', post('teams', unknownEverywhereAsYaml('strict-bodies-d'), strict, yaml)),
      step('YAML, Warn', post('teams', unknownEverywhereAsYaml('strict-bodies-e'), {}, yaml)),
      step('YAML, Ignore', post('teams', unknownEverywhereAsYaml('strict-bodies-f'), ignore, yaml)),
      step(
        'put of YAML, Strict',
        put('teams/strict-bodies-c', unknownEverywhereAsYaml('strict-bodies-c', '  resourceVersion: "{{rv}}"\n'), strict, yaml),
      ),
      step(
        'put of YAML, Warn',
        put('teams/strict-bodies-c', unknownEverywhereAsYaml('strict-bodies-c', '  resourceVersion: "{{rv}}"\n'), {}, yaml),
      ),
      step('merge patch, Strict', mergePatch('teams/strict-bodies-c', unknownEverywhere('strict-bodies-c'), strict)),
      step('merge patch, Warn', mergePatch('teams/strict-bodies-c', unknownEverywhere('strict-bodies-c'))),
      step('apply, Strict', apply('teams/strict-bodies-g', unknownEverywhereAsYaml('strict-bodies-g'), strict), { pick: code }),
      step('apply, Warn', apply('teams/strict-bodies-g', unknownEverywhereAsYaml('strict-bodies-g')), { pick: code }),
      step(
        'apply of JSON with duplicates, Strict',
        apply(
          'tasks/strict-bodies-h',
          '{"apiVersion":"agentiso.dev/v1alpha1","kind":"Task","metadata":{"name":"strict-bodies-h"},"spec":{"team":"shop","command":"a","command":"b"}}',
          strict,
        ),
      ),
      step(
        'apply of JSON with duplicates, Warn',
        apply(
          'tasks/strict-bodies-h',
          '{"apiVersion":"agentiso.dev/v1alpha1","kind":"Task","metadata":{"name":"strict-bodies-h"},"spec":{"team":"shop","command":"a","command":"b"}}',
        ),
      ),
      step(
        'apply of JSON with duplicates, Ignore',
        apply(
          'tasks/strict-bodies-i',
          '{"apiVersion":"agentiso.dev/v1alpha1","kind":"Task","metadata":{"name":"strict-bodies-i"},"spec":{"team":"shop","command":"a","command":"b"}}',
          ignore,
        ),
      ),
      step('a task', post('tasks', task('strict-bodies-t', { tags: ['x'] }))),
      step(
        'JSON patch with an unknown and a duplicate word, Strict',
        jsonPatch(
          'tasks/strict-bodies-t',
          '[{"op":"add","path":"/spec/title","value":"t","foo":"bar"},{"op":"add","path":"/spec/x","path":"/spec/description","value":"d"}]',
          strict,
        ),
      ),
      step(
        'JSON patch with an unknown and a duplicate word, Warn',
        jsonPatch(
          'tasks/strict-bodies-t',
          '[{"op":"add","path":"/spec/title","value":"t","foo":"bar"},{"op":"add","path":"/spec/x","path":"/spec/description","value":"d"}]',
        ),
      ),
      step(
        'JSON patch with an unknown and a duplicate word, Ignore',
        jsonPatch(
          'tasks/strict-bodies-t',
          '[{"op":"add","path":"/spec/title","value":"u","foo":"bar"},{"op":"add","path":"/spec/x","path":"/spec/description","value":"e"}]',
          ignore,
        ),
      ),
      step(
        'JSON patch of an unknown field, Strict',
        jsonPatch('tasks/strict-bodies-t', [{ op: 'add', path: '/spec/bogus', value: 1 }], strict),
      ),
      step('JSON patch of an unknown field, Warn', jsonPatch('tasks/strict-bodies-t', [{ op: 'add', path: '/spec/bogus', value: 1 }])),
      step(
        'JSON patch of an unknown field in metadata, Strict',
        jsonPatch('tasks/strict-bodies-t', [{ op: 'add', path: '/metadata/bogus', value: 1 }], strict),
      ),
      step(
        'status by put, Strict',
        mergePatch('tasks/strict-bodies-t/status', { status: { bogus: 1, phase: 'Running' }, spec: { more: 1 } }, strict),
      ),
      step(
        'status by patch, Warn',
        mergePatch('tasks/strict-bodies-t/status', { status: { bogus: 1, phase: 'Running' }, spec: { more: 1 } }),
      ),
      step(
        'merge patch that sets an unknown field to null, Strict',
        mergePatch('tasks/strict-bodies-t', { spec: { bogus: null } }, strict),
      ),
      step('null for an unknown field, Strict', post('tasks', task('strict-bodies-n', { bogus: null }), strict)),
      step('an unknown field in a free object, Strict', post('tasks', task('strict-bodies-v', { env: { A: '1' }, verify: ['x'] }), strict)),
      step('a create with a status of unknown fields, Strict', post('tasks', { ...task('strict-bodies-s'), status: { bogus: 1 } }, strict)),
    ],
  },
  {
    name: 'patch-words',
    steps: [
      step(
        'create',
        post(
          'tasks',
          task('patch-words-a', { title: 'a', tags: ['x', 'y', 'z'], env: { A: '1', B: '2' } }, { annotations: { 'a.b/c': '1', n: 'o' } }),
        ),
      ),
      step('move', jsonPatch('tasks/patch-words-a', [{ op: 'move', from: '/spec/title', path: '/spec/description' }])),
      step('copy', jsonPatch('tasks/patch-words-a', [{ op: 'copy', from: '/spec/description', path: '/spec/title' }])),
      step('move of nothing', jsonPatch('tasks/patch-words-a', [{ op: 'move', from: '/spec/none', path: '/spec/title' }])),
      step('copy of nothing', jsonPatch('tasks/patch-words-a', [{ op: 'copy', from: '/spec/none', path: '/spec/title' }])),
      step('move without from', jsonPatch('tasks/patch-words-a', [{ op: 'move', path: '/spec/title' }])),
      step(
        'escapes',
        jsonPatch('tasks/patch-words-a', [
          { op: 'replace', path: '/metadata/annotations/a.b~1c', value: '4' },
          { op: 'remove', path: '/metadata/annotations/n~0' },
        ]),
      ),
      step('a test of an object', jsonPatch('tasks/patch-words-a', [{ op: 'test', path: '/spec/env', value: { B: '2', A: '1' } }])),
      step('a test of a list', jsonPatch('tasks/patch-words-a', [{ op: 'test', path: '/spec/tags', value: ['x', 'y', 'z'] }])),
      step(
        'a test of a list in another order',
        jsonPatch('tasks/patch-words-a', [{ op: 'test', path: '/spec/tags', value: ['y', 'x', 'z'] }]),
      ),
      step('a test for null of what is not there', jsonPatch('tasks/patch-words-a', [{ op: 'test', path: '/spec/prompt', value: null }])),
      step(
        'a test of a version that is old',
        jsonPatch('tasks/patch-words-a', [{ op: 'test', path: '/metadata/resourceVersion', value: '1' }]),
      ),
      step('a negative index', jsonPatch('tasks/patch-words-a', [{ op: 'remove', path: '/spec/tags/-1' }])),
      step('an index with a zero', jsonPatch('tasks/patch-words-a', [{ op: 'replace', path: '/spec/tags/01', value: 'q' }])),
      step('an index that is none', jsonPatch('tasks/patch-words-a', [{ op: 'replace', path: '/spec/tags/one', value: 'q' }])),
      step('removes the end of a list', jsonPatch('tasks/patch-words-a', [{ op: 'remove', path: '/spec/tags/-' }])),
      step('replaces the end of a list', jsonPatch('tasks/patch-words-a', [{ op: 'replace', path: '/spec/tags/-', value: 'q' }])),
      step('below a text', jsonPatch('tasks/patch-words-a', [{ op: 'add', path: '/spec/title/x', value: 1 }])),
      step('an operation in capitals', jsonPatch('tasks/patch-words-a', [{ op: 'Add', path: '/spec/title', value: 'x' }])),
      step('a path that is no text', jsonPatch('tasks/patch-words-a', '[{"op":"add","path":7,"value":"x"}]')),
      step('an operation that is null', jsonPatch('tasks/patch-words-a', '[null]')),
      step('a patch that is null', jsonPatch('tasks/patch-words-a', 'null')),
      step('a patch that is a text', jsonPatch('tasks/patch-words-a', '"x"')),
      step('another name', jsonPatch('tasks/patch-words-a', [{ op: 'replace', path: '/metadata/name', value: 'other' }])),
      step('no name', jsonPatch('tasks/patch-words-a', [{ op: 'remove', path: '/metadata/name' }])),
      step('another uid', jsonPatch('tasks/patch-words-a', [{ op: 'replace', path: '/metadata/uid', value: 'x' }])),
      step('no uid', jsonPatch('tasks/patch-words-a', [{ op: 'remove', path: '/metadata/uid' }])),
      step('no resourceVersion', jsonPatch('tasks/patch-words-a', [{ op: 'remove', path: '/metadata/resourceVersion' }])),
      step('an empty resourceVersion', mergePatch('tasks/patch-words-a', { metadata: { resourceVersion: '' } })),
      step('a resourceVersion that is none', mergePatch('tasks/patch-words-a', { metadata: { resourceVersion: 'x' } })),
      step('another kind', jsonPatch('tasks/patch-words-a', [{ op: 'replace', path: '/kind', value: 'Team' }])),
      step('no kind', jsonPatch('tasks/patch-words-a', [{ op: 'remove', path: '/kind' }])),
      step('no metadata', jsonPatch('tasks/patch-words-a', [{ op: 'remove', path: '/metadata' }])),
      step('creationTimestamp', mergePatch('tasks/patch-words-a', { metadata: { creationTimestamp: '2020-01-01T00:00:00Z' } })),
      step('deletionTimestamp', mergePatch('tasks/patch-words-a', { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } })),
      step('selfLink', mergePatch('tasks/patch-words-a', { metadata: { selfLink: '/x' } })),
      step('generateName', mergePatch('tasks/patch-words-a', { metadata: { generateName: 'x-' } })),
      step('the whole metadata as null', mergePatch('tasks/patch-words-a', { metadata: null })),
      step('labels as null', mergePatch('tasks/patch-words-a', { metadata: { labels: null } })),
      step('a label as null', mergePatch('tasks/patch-words-a', { metadata: { labels: { a: 'b', c: null } } })),
      step('a label that is a number', mergePatch('tasks/patch-words-a', { metadata: { labels: { a: 7 } } })),
      step('a bad label', mergePatch('tasks/patch-words-a', { metadata: { labels: { 'a b': 'x' } } })),
      step('a merge patch as YAML', mergePatch('tasks/patch-words-a', 'spec:\n  title: yaml\n'), { compare: 'reason' }),
      step(
        'too many operations',
        jsonPatch('tasks/patch-words-a', JSON.stringify(Array(10_001).fill({ op: 'test', path: '/spec/title', value: 'x' }))),
      ),
      step(
        'as many as may be',
        jsonPatch('tasks/patch-words-a', JSON.stringify(Array(10_000).fill({ op: 'test', path: '/kind', value: 'Task' }))),
        {
          pick: (body) => at(body, '/metadata/name') ?? body,
        },
      ),
      step('at the end', get('tasks/patch-words-a')),
    ],
  },
  {
    name: 'apply-turns',
    steps: [
      step(
        'creates',
        apply('tasks/apply-turns-a', task('apply-turns-a', { title: 'one', tags: ['x'] }, { labels: { a: 'b' } })),
        rememberVersion,
      ),
      step('the same', apply('tasks/apply-turns-a', task('apply-turns-a', { title: 'one', tags: ['x'] }, { labels: { a: 'b' } }))),
      step(
        'the same, forced',
        apply('tasks/apply-turns-a', task('apply-turns-a', { title: 'one', tags: ['x'] }, { labels: { a: 'b' } }), { force: 'true' }),
      ),
      step(
        'the same as kubectl sends it',
        apply(
          'tasks/apply-turns-a',
          task('apply-turns-a', { title: 'one', tags: ['x'] }, { labels: { a: 'b' }, creationTimestamp: null, namespace: 'default' }),
        ),
      ),
      step(
        'an empty map',
        apply('tasks/apply-turns-a', task('apply-turns-a', { title: 'one', tags: ['x'], env: {} }, { labels: { a: 'b' } })),
      ),
      step(
        'the same empty map',
        apply('tasks/apply-turns-a', task('apply-turns-a', { title: 'one', tags: ['x'], env: {} }, { labels: { a: 'b' } })),
        rememberVersion,
      ),
      step(
        'a put that changes nothing',
        put(
          'tasks/apply-turns-a',
          task('apply-turns-a', { title: 'one', tags: ['x'], env: {} }, { labels: { a: 'b' }, resourceVersion: '{{rv}}' }),
          {
            fieldManager: 'putter',
          },
        ),
      ),
      step(
        'a creation time by apply',
        apply(
          'tasks/apply-turns-a',
          bare('apply-turns-a', { metadata: { name: 'apply-turns-a', creationTimestamp: '2020-01-01T00:00:00Z' } }),
          { fieldManager: 'time' },
        ),
      ),
      step(
        'finalizers',
        apply('tasks/apply-turns-a', bare('apply-turns-a', { metadata: { name: 'apply-turns-a', finalizers: ['a.b/one'] } }), {
          fieldManager: 'fin',
        }),
      ),
      step(
        'more finalizers of another',
        apply('tasks/apply-turns-a', bare('apply-turns-a', { metadata: { name: 'apply-turns-a', finalizers: ['a.b/two'] } }), {
          fieldManager: 'fin2',
        }),
      ),
      step('finalizers given up', apply('tasks/apply-turns-a', bare('apply-turns-a'), { fieldManager: 'fin' })),
      step(
        'owners',
        apply('tasks/apply-turns-a', bare('apply-turns-a', { metadata: { name: 'apply-turns-a', ownerReferences: [owner(1)] } }), {
          fieldManager: 'own',
        }),
      ),
      step(
        'an owner changed by another',
        apply(
          'tasks/apply-turns-a',
          bare('apply-turns-a', { metadata: { name: 'apply-turns-a', ownerReferences: [owner(1, { controller: true })] } }),
          { fieldManager: 'own2' },
        ),
      ),
      step(
        'another owner of another',
        apply('tasks/apply-turns-a', bare('apply-turns-a', { metadata: { name: 'apply-turns-a', ownerReferences: [owner(2)] } }), {
          fieldManager: 'own2',
        }),
      ),
      step(
        'an owner without uid',
        apply(
          'tasks/apply-turns-a',
          bare('apply-turns-a', { metadata: { name: 'apply-turns-a', ownerReferences: [{ ...owner(2), uid: undefined }] } }),
          { fieldManager: 'own3' },
        ),
      ),
      step(
        'two controllers',
        apply(
          'tasks/apply-turns-a',
          bare('apply-turns-a', {
            metadata: { name: 'apply-turns-a', ownerReferences: [owner(4, { controller: true }), owner(5, { controller: true })] },
          }),
          { fieldManager: 'own4' },
        ),
      ),
      step('deletion is marked', del('tasks/apply-turns-a')),
      step(
        'an apply while it is deleted',
        apply('tasks/apply-turns-a', task('apply-turns-a', { title: 'late', tags: ['x'] }, { labels: { a: 'b' } })),
      ),
      step(
        'a finalizer while it is deleted',
        apply('tasks/apply-turns-a', bare('apply-turns-a', { metadata: { name: 'apply-turns-a', finalizers: ['a.b/late'] } }), {
          fieldManager: 'fin',
        }),
      ),
      step('the last finalizer is given up', apply('tasks/apply-turns-a', bare('apply-turns-a'), { fieldManager: 'fin2' })),
      step('it is gone', get('tasks/apply-turns-a')),
      step('ownership goes to an updater', apply('tasks/apply-turns-b', task('apply-turns-b', { priority: 2 }))),
      step('the updater changes it', mergePatch('tasks/apply-turns-b', { spec: { priority: 4 } }, { fieldManager: 'scaler' })),
      step('the applier leaves it out', apply('tasks/apply-turns-b', task('apply-turns-b'))),
      step('the applier wants it back', apply('tasks/apply-turns-b', task('apply-turns-b', { priority: 2 }))),
      step('the applier takes what is there', apply('tasks/apply-turns-b', task('apply-turns-b', { priority: 4 }))),
      step('and gives it up again', apply('tasks/apply-turns-b', task('apply-turns-b'))),
      step('two share', apply('tasks/apply-turns-b', bare('apply-turns-b', { spec: { maxAttempts: 5 } }), { fieldManager: 'p' })),
      step(
        'two share, the other',
        apply('tasks/apply-turns-b', bare('apply-turns-b', { spec: { maxAttempts: 5 } }), { fieldManager: 'q' }),
      ),
      step(
        'one of two changes it',
        apply('tasks/apply-turns-b', bare('apply-turns-b', { spec: { maxAttempts: 6 } }), { fieldManager: 'p' }),
      ),
      step(
        'one of two changes it by force',
        apply('tasks/apply-turns-b', bare('apply-turns-b', { spec: { maxAttempts: 6 } }), { fieldManager: 'p', force: 'true' }),
      ),
      step('an updater takes from all', mergePatch('tasks/apply-turns-b', { spec: { maxAttempts: 7 } }, { fieldManager: 'scaler' }), {
        pick: managers,
      }),
      step(
        'a manager is renamed',
        jsonPatch('tasks/apply-turns-b', [{ op: 'replace', path: '/metadata/managedFields/0/manager', value: 'renamed' }]),
        { pick: managers },
      ),
      step(
        'the status',
        mergePatch(
          'tasks/apply-turns-b/status',
          { status: { phase: 'Running', conditions: [condition('A', 'x')] } },
          { fieldManager: 'controller' },
        ),
      ),
      step(
        'a condition by apply',
        apply('tasks/apply-turns-b/status', bare('apply-turns-b', { status: { conditions: [condition('B', 'y')] } }), {
          fieldManager: 'b',
        }),
      ),
      step(
        'the condition of another',
        apply('tasks/apply-turns-b/status', bare('apply-turns-b', { status: { conditions: [condition('A', 'z')] } }), {
          fieldManager: 'c',
        }),
      ),
      step(
        'the same values as another',
        apply('tasks/apply-turns-b/status', bare('apply-turns-b', { status: { phase: 'Running' } }), { fieldManager: 'c' }),
      ),
      step(
        'spec by apply of the status',
        apply('tasks/apply-turns-b/status', bare('apply-turns-b', { spec: { title: 'no' }, status: { phase: 'Running' } }), {
          fieldManager: 'c',
        }),
      ),
      step(
        'labels by apply of the status',
        apply('tasks/apply-turns-b/status', bare('apply-turns-b', { metadata: { name: 'apply-turns-b', labels: { s: 't' } } }), {
          fieldManager: 'c',
        }),
      ),
      step(
        'the same manager on both',
        apply('tasks/apply-turns-b', bare('apply-turns-b', { spec: { title: 'yes' } }), { fieldManager: 'c' }),
        { pick: managers },
      ),
      step('at the end', get('tasks/apply-turns-b')),
      step('many updaters', apply('tasks/apply-turns-c', task('apply-turns-c'))),
      ...Array.from({ length: 13 }, (_, index) =>
        step(
          `updater ${index}`,
          mergePatch(
            'tasks/apply-turns-c',
            { metadata: { labels: { [`l${index}`]: 'x' } } },
            { fieldManager: `updater-${String(index).padStart(2, '0')}` },
          ),
          {
            silent: true,
          },
        ),
      ),
      step('are not all remembered', get('tasks/apply-turns-c'), {
        pick: (body) => (at(body, '/metadata/managedFields') as unknown[])?.length,
      }),
    ],
  },
  {
    name: 'update-turns',
    steps: [
      step('create', post('tasks', task('update-turns-a', { title: 'a' }, { labels: { a: 'b' } })), rememberVersion),
      step('labels do not count', mergePatch('tasks/update-turns-a', { metadata: { labels: { c: 'd' } } }), rememberVersion),
      step('the spec counts', mergePatch('tasks/update-turns-a', { spec: { title: 'b' } }), rememberVersion),
      step(
        'a generation by put',
        put(
          'tasks/update-turns-a',
          task('update-turns-a', { title: 'b' }, { labels: { a: 'b', c: 'd' }, resourceVersion: '{{rv}}', generation: 77 }),
        ),
        rememberVersion,
      ),
      step(
        'a put without uid',
        put('tasks/update-turns-a', task('update-turns-a', { title: 'c' }, { resourceVersion: '{{rv}}' })),
        rememberVersion,
      ),
      step(
        'a put with another uid',
        put(
          'tasks/update-turns-a',
          task('update-turns-a', { title: 'd' }, { resourceVersion: '{{rv}}', uid: '00000000-0000-0000-0000-000000000001' }),
        ),
      ),
      step(
        'a put with a deletionTimestamp',
        put(
          'tasks/update-turns-a',
          task('update-turns-a', { title: 'd' }, { resourceVersion: '{{rv}}', deletionTimestamp: '2020-01-01T00:00:00Z' }),
        ),
      ),
      step(
        'a put with a status',
        put('tasks/update-turns-a', {
          ...task('update-turns-a', { title: 'd' }, { resourceVersion: '{{rv}}' }),
          status: { phase: 'Failed' },
        }),
        rememberVersion,
      ),
      step(
        'status by put',
        put('tasks/update-turns-a/status', {
          ...task('update-turns-a', { title: 'other' }, { resourceVersion: '{{rv}}', labels: { new: 'x' } }),
          status: { phase: 'Running' },
        }),
        rememberVersion,
      ),
      step(
        'status by put that is old',
        put('tasks/update-turns-a/status', { ...task('update-turns-a', {}, { resourceVersion: '1' }), status: { phase: 'Failed' } }),
      ),
      step(
        'status by put with another uid',
        put('tasks/update-turns-a/status', {
          ...task('update-turns-a', {}, { resourceVersion: '{{rv}}', uid: '00000000-0000-0000-0000-000000000001' }),
          status: { phase: 'Failed' },
        }),
      ),
      step(
        'status that is the same',
        put('tasks/update-turns-a/status', { ...task('update-turns-a', {}, { resourceVersion: '{{rv}}' }), status: { phase: 'Running' } }),
      ),
      step(
        'a create with a uid',
        post(
          'tasks',
          task(
            'update-turns-b',
            {},
            { uid: '00000000-0000-0000-0000-000000000001', generation: 9, creationTimestamp: '2020-01-01T00:00:00Z' },
          ),
        ),
      ),
      step(
        'a create with a deletionTimestamp',
        post('tasks', task('update-turns-c', {}, { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 })),
      ),
      step('a create with selfLink', post('tasks', task('update-turns-d', {}, { selfLink: '/x' }))),
      step('an owner without name', post('tasks', task('update-turns-e', {}, { ownerReferences: [owner(1, { name: '' })] }))),
      step('an owner without uid', post('tasks', task('update-turns-e', {}, { ownerReferences: [owner(1, { uid: '' })] }))),
      step('an owner without kind', post('tasks', task('update-turns-e', {}, { ownerReferences: [owner(1, { kind: '' })] }))),
      step('an owner without version', post('tasks', task('update-turns-e', {}, { ownerReferences: [owner(1, { apiVersion: '' })] }))),
      step(
        'an owner of a bad version',
        post('tasks', task('update-turns-e', {}, { ownerReferences: [owner(1, { apiVersion: 'a/b/c' })] })),
      ),
      step(
        'two controllers',
        post('tasks', task('update-turns-e', {}, { ownerReferences: [owner(1, { controller: true }), owner(2, { controller: true })] })),
      ),
      step('orphan and foreground at once', post('tasks', task('update-turns-f', {}, { finalizers: ['orphan', 'foregroundDeletion'] }))),
    ],
  },
  {
    name: 'delete-turns',
    steps: [
      step('create', post('merges', merge('delete-turns-a', {}, { finalizers: ['a.b/c'] })), rememberVersion),
      step('a precondition that is old', del('merges/delete-turns-a', { preconditions: { resourceVersion: '1' } })),
      step(
        'two preconditions, one wrong',
        del('merges/delete-turns-a', { preconditions: { resourceVersion: '{{rv}}', uid: '00000000-0000-0000-0000-000000000001' } }),
      ),
      step(
        'two preconditions, right',
        del('merges/delete-turns-a', { preconditions: { resourceVersion: '{{rv}}', uid: '{{uid}}' } }),
        rememberVersion,
      ),
      step('a precondition on one that is being deleted', del('merges/delete-turns-a', { preconditions: { resourceVersion: '1' } })),
      step(
        'the right precondition on one that is being deleted',
        del('merges/delete-turns-a', { preconditions: { resourceVersion: '{{rv}}' } }),
      ),
      step('another finalizer', mergePatch('merges/delete-turns-a', { metadata: { finalizers: ['a.b/c', 'a.b/d'] } })),
      step(
        'another finalizer by put',
        put('merges/delete-turns-a', merge('delete-turns-a', {}, { resourceVersion: '{{rv}}', finalizers: ['x.y/z'] })),
      ),
      step('the status of one that is being deleted', mergePatch('merges/delete-turns-a/status', { status: { phase: 'Merged' } })),
      step('dry run of the last finalizer', mergePatch('merges/delete-turns-a', { metadata: { finalizers: null } }, { dryRun: 'All' })),
      step('it is still there', get('merges/delete-turns-a'), { pick: (body) => at(body, '/metadata/finalizers') }),
      step('the last finalizer', mergePatch('merges/delete-turns-a', { metadata: { finalizers: null } })),
      step('a policy and orphanDependents', del('merges/delete-turns-a', { propagationPolicy: 'Orphan', orphanDependents: true })),
      step('a grace period below zero', del('merges/delete-turns-a', { gracePeriodSeconds: -1 })),
      step('create b', post('merges', merge('delete-turns-b'))),
      step('a grace period of a minute', del('merges/delete-turns-b', { gracePeriodSeconds: 60 })),
      step('create c', post('merges', merge('delete-turns-c'))),
      step('both at once', del('merges/delete-turns-c', { propagationPolicy: 'Orphan', orphanDependents: true })),
      step('orphan', del('merges/delete-turns-c', { propagationPolicy: 'Orphan' })),
      step('orphan, then foreground', del('merges/delete-turns-c', { propagationPolicy: 'Foreground' })),
      step('its finalizers go', mergePatch('merges/delete-turns-c', { metadata: { finalizers: [] } })),
      step('create d', post('merges', merge('delete-turns-d', {}, { labels: { d: 'd' } }))),
      step('create e', post('merges', merge('delete-turns-e', {}, { labels: { d: 'd' } }))),
      step('a collection with a precondition', del('merges', { preconditions: { resourceVersion: '1' } }, { labelSelector: 'd=d' })),
      step('a collection by pages', del('merges', undefined, { labelSelector: 'd=d', limit: '1' }), {
        pick: (body) => (body as { items?: { metadata: { name: string } }[] }).items?.map(({ metadata }) => metadata.name) ?? body,
      }),
      step('what is left of it', get('merges', { labelSelector: 'd=d' }), {
        pick: (body) => (body as { items?: { metadata: { name: string } }[] }).items?.map(({ metadata }) => metadata.name) ?? body,
      }),
      step('a collection with a bad version', del('merges', undefined, { resourceVersion: 'x', labelSelector: 'd=d' })),
      step('a collection as metadata', del('merges', undefined, { labelSelector: 'd=d' }, { accept: metadataListForm }), {
        pick: (body) => [at(body, '/kind'), at(body, '/apiVersion')],
      }),
      step(
        'ignoreStoreReadErrorWithClusterBreakingPotential',
        del('merges/delete-turns-d', { ignoreStoreReadErrorWithClusterBreakingPotential: true }),
      ),
    ],
  },
  {
    name: 'forms',
    steps: [
      step('create a', post('merges', merge('forms-a', {}, { labels: { forms: 'x' }, annotations: { n: 'o' } }))),
      step('create b', post('merges', merge('forms-b', {}, { labels: { forms: 'x' } }))),
      step('a list', get('merges', { labelSelector: 'forms=x' }), { ...listVersion, pick: (body) => at(body, '/kind') }),
      step(
        'metadata by watch',
        get('merges', { watch: 'true', labelSelector: 'forms=x', resourceVersion: '0' }, { accept: metadataForm }),
        { events: 2, settle: true },
      ),
      step('metadata by WatchList', get('merges', { ...watchList, labelSelector: 'forms=x' }, { accept: metadataForm }), { events: 3 }),
      step('tables by WatchList', get('merges', { ...watchList, labelSelector: 'forms=x' }, { accept: tableForm }), { events: 3 }),
      step(
        'tables without objects by watch',
        get('merges', { watch: 'true', labelSelector: 'forms=x', resourceVersion: '0', includeObject: 'None' }, { accept: tableForm }),
        { events: 2, settle: true },
      ),
      step(
        'tables of one object by watch',
        get('merges', { watch: 'true', fieldSelector: 'metadata.name=forms-a', resourceVersion: '0' }, { accept: tableForm }),
        { events: 1, settle: true },
      ),
      step('a patch as metadata', {
        ...mergePatch('merges/forms-a', { metadata: { labels: { more: 'x' } } }),
        headers: { 'content-type': 'application/merge-patch+json', accept: metadataForm },
      }),
      step('an apply as a table', {
        ...apply('merges/forms-a', {
          apiVersion: 'agentiso.dev/v1alpha1',
          kind: 'Merge',
          metadata: { name: 'forms-a', labels: { by: 'apply' } },
        }),
        headers: { 'content-type': 'application/apply-patch+yaml', accept: tableForm },
      }),
      step('the status as metadata', get('merges/forms-a/status', {}, { accept: metadataForm })),
      step(
        'an access review as a table',
        post(
          '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
          {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SelfSubjectAccessReview',
            spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
          },
          {},
          { accept: tableForm },
        ),
      ),
      step('a namespace as a table', get('/api/v1/namespaces/default', {}, { accept: tableForm }), {
        pick: (body) => [at(body, '/kind'), at(body, '/columnDefinitions'), at(body, '/rows/0/cells/0')],
      }),
      step(
        'definitions as a table',
        get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/merges.agentiso.dev', {}, { accept: tableForm }),
        { pick: (body) => [at(body, '/kind'), at(body, '/columnDefinitions')] },
      ),
      step('a page as a table', get('merges', { limit: '1', labelSelector: 'forms=x' }, { accept: `${tableForm},application/json` }), {
        remember: { token: '/metadata/continue' },
      }),
      step(
        'the next page as a table',
        get('merges', { limit: '1', labelSelector: 'forms=x', continue: '{{token}}' }, { accept: tableForm }),
      ),
      step('a WatchList with a limit', get('merges', { ...watchList, labelSelector: 'forms=x', limit: '1' }), {
        events: 3,
        pick: (body) => (Array.isArray(body) ? body.map(({ type }) => type) : body),
      }),
      step('a WatchList with a continue token', get('merges', { ...watchList, labelSelector: 'forms=x', continue: '{{token}}' }), {
        events: 3,
        pick: (body) => (Array.isArray(body) ? body.map(({ type }) => type) : body),
      }),
      step(
        'a match that is unknown',
        get('merges', { watch: 'true', sendInitialEvents: 'true', resourceVersionMatch: 'Bogus', resourceVersion: '1' }),
      ),
      step('sendInitialEvents without match', get('merges', { watch: 'true', sendInitialEvents: 'true' })),
      step(
        'sendInitialEvents without match, from a version',
        get('merges', { watch: 'true', sendInitialEvents: 'true', resourceVersion: '{{start}}' }),
      ),
      step('sendInitialEvents false without match', get('merges', { watch: 'true', sendInitialEvents: 'false' })),
      step(
        'sendInitialEvents that is no boolean',
        get('merges', { ...watchList, sendInitialEvents: 'perhaps', labelSelector: 'forms=x', timeoutSeconds: '1' }),
        { pick: (body) => (Array.isArray(body) ? body.map(({ type }) => type) : body) },
      ),
      step('Exact on a watch', get('merges', { watch: 'true', resourceVersionMatch: 'Exact', resourceVersion: '{{start}}' })),
      step('a namespace that is not there', get(`${namespace.replace('default', 'nowhere')}/merges`, { ...watchList }), { events: 1 }),
      step('a team as metadata', post('teams', team('forms-t'), {}, { accept: metadataForm })),
    ],
  },
];
