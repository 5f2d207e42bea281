/** Server-side apply: ownership, conflicts, pruning, lists. */
import type { Scenario } from '../scenario.ts';
import {
  agent,
  apply,
  condition,
  get,
  jsonPatch,
  mergePatch,
  post,
  put,
  type Query,
  rememberVersion,
  step,
  task,
  team,
} from './requests.ts';

/** A dry run, so that a server that does not refuse it has nothing of it for the next steps. */
const refused = (what: string, body: unknown, query: Query = {}) => apply(what, body, { dryRun: 'All', ...query });
const two = { fieldManager: 'two' };
const status = (name: string, fields: object) => ({
  apiVersion: 'agentiso.dev/v1alpha1',
  kind: 'Task',
  metadata: { name },
  status: fields,
});
const bare = (kind: string, name: string, rest: object) => ({ apiVersion: 'agentiso.dev/v1alpha1', kind, metadata: { name }, ...rest });

export const applyScenarios: Scenario[] = [
  {
    name: 'apply',
    steps: [
      step('creates', apply('tasks/apply-a', task('apply-a', { title: 'one' })), rememberVersion),
      step('unchanged', apply('tasks/apply-a', task('apply-a', { title: 'one' }))),
      step('changed', apply('tasks/apply-a', task('apply-a', { title: 'two' }))),
      step('a field of another manager', apply('tasks/apply-a', bare('Task', 'apply-a', { spec: { priority: 1 } }), two)),
      step('conflict with one', apply('tasks/apply-a', bare('Task', 'apply-a', { spec: { priority: 1, title: 'mine' } }), two)),
      step(
        'conflict with many fields',
        apply('tasks/apply-a', bare('Task', 'apply-a', { spec: { priority: 1, title: 'mine', command: 'x' } }), two),
      ),
      step('the same value is shared', apply('tasks/apply-a', bare('Task', 'apply-a', { spec: { priority: 1, title: 'two' } }), two)),
      step('a shared field stays when one drops it', apply('tasks/apply-a', task('apply-a'))),
      step('and goes when the last one drops it', apply('tasks/apply-a', bare('Task', 'apply-a', { spec: { priority: 1 } }), two)),
      step('a default comes back', apply('tasks/apply-a', bare('Task', 'apply-a', {}), two)),
      step('force', apply('tasks/apply-a', bare('Task', 'apply-a', { spec: { command: 'forced' } }), { ...two, force: 'true' })),
      step('conflict back', apply('tasks/apply-a', task('apply-a'))),
      step('an updater', mergePatch('tasks/apply-a', { spec: { maxAttempts: 7, stuckPolicy: 'Reassign' } }, { fieldManager: 'editor' })),
      step('conflict with an updater', apply('tasks/apply-a', task('apply-a', { command: 'forced', maxAttempts: 5 }))),
      step(
        'conflict with several managers',
        apply('tasks/apply-a', task('apply-a', { command: 'x', maxAttempts: 5, stuckPolicy: 'Report' })),
      ),
      step(
        'force against several',
        apply('tasks/apply-a', task('apply-a', { command: 'x', maxAttempts: 5, stuckPolicy: 'Report' }), { force: 'true' }),
      ),
      step('an updater takes from an applier', mergePatch('tasks/apply-a', { spec: { command: 'edited' } }, { fieldManager: 'editor' })),
      step(
        'an updater removes a field of an applier',
        mergePatch('tasks/apply-a', { spec: { maxAttempts: null } }, { fieldManager: 'editor' }),
      ),
      step('dry run', apply('tasks/apply-a', task('apply-a', { command: 'dry' }), { force: 'true', dryRun: 'All' })),
      step('at the end', get('tasks/apply-a')),
      step('dry run creates nothing', apply('tasks/apply-dry', task('apply-dry'), { dryRun: 'All' })),
      step('really', get('tasks/apply-dry')),
      step(
        'labels and annotations',
        apply(
          'tasks/apply-a',
          bare('Task', 'apply-a', { metadata: { name: 'apply-a', labels: { a: '1' }, annotations: { 'x/y': 'z' } } }),
          { fieldManager: 'labels' },
        ),
      ),
      step(
        'owner references and finalizers',
        apply(
          'tasks/apply-a',
          bare('Task', 'apply-a', {
            metadata: {
              name: 'apply-a',
              finalizers: ['a.b/c'],
              ownerReferences: [
                { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', name: 'x', uid: '00000000-0000-0000-0000-000000000001' },
              ],
            },
          }),
          { fieldManager: 'owner' },
        ),
      ),
      step(
        'finalizers of another',
        apply('tasks/apply-a', bare('Task', 'apply-a', { metadata: { name: 'apply-a', finalizers: ['d.e/f'] } }), {
          fieldManager: 'owner2',
        }),
      ),
      step('the owner drops them', apply('tasks/apply-a', bare('Task', 'apply-a', {}), { fieldManager: 'owner' })),
      step('labels dropped', apply('tasks/apply-a', bare('Task', 'apply-a', {}), { fieldManager: 'labels' })),
    ],
  },
  {
    name: 'apply-request',
    steps: [
      step('no field manager', { ...refused('tasks/apply-request-a', task('apply-request-a')), query: {} }),
      step('no field manager, forced', { ...refused('tasks/apply-request-a', task('apply-request-a')), query: { force: 'true' } }),
      step(
        'managedFields in the body',
        refused('tasks/apply-request-a', task('apply-request-a', {}, { managedFields: [{ manager: 'x' }] })),
      ),
      step('empty managedFields in the body', apply('tasks/apply-request-empty', task('apply-request-empty', {}, { managedFields: [] }))),
      step('another apiVersion', refused('tasks/apply-request-a', { ...task('apply-request-a'), apiVersion: 'agentiso.dev/v9' })),
      step('another kind', refused('tasks/apply-request-a', team('apply-request-a'))),
      step('no kind', refused('tasks/apply-request-a', { ...task('apply-request-a'), kind: undefined })),
      step('no apiVersion', refused('tasks/apply-request-a', { ...task('apply-request-a'), apiVersion: undefined })),
      step('another name', refused('tasks/apply-request-a', task('apply-request-b'))),
      step('no name', refused('tasks/apply-request-a', { ...task('x'), metadata: {} })),
      step('another namespace', refused('tasks/apply-request-a', task('apply-request-a', {}, { namespace: 'other' }))),
      step('no namespace', apply('/apis/agentiso.dev/v1alpha1/namespaces/nowhere/tasks/apply-request-a', task('apply-request-a'))),
      step('an unknown field', refused('tasks/apply-request-a', task('apply-request-a', { bogus: 1 }))),
      step(
        'an unknown field, Ignore',
        refused('tasks/apply-request-a', task('apply-request-a', { bogus: 1 }), { fieldValidation: 'Ignore' }),
      ),
      step('an unknown field in metadata', refused('tasks/apply-request-meta', task('apply-request-meta', {}, { bogus: 1 }))),
      step('an unknown field in a list', refused('teams/apply-request-a', team('apply-request-a', { roles: [{ name: 'a', bogus: 1 }] }))),
      step('a wrong type', refused('tasks/apply-request-a', task('apply-request-a', { priority: 'high' }))),
      step('a list for an object', refused('tasks/apply-request-a', task('apply-request-a', { env: [] }))),
      step('an object for a string', refused('tasks/apply-request-a', task('apply-request-a', { title: {} }))),
      step('a string for a list', refused('tasks/apply-request-a', task('apply-request-a', { tags: 'x' }))),
      step('a duplicate in a set', refused('tasks/apply-request-a', task('apply-request-a', { tags: ['x', 'x'] }))),
      step(
        'a duplicate in a map list',
        refused('teams/apply-request-a', team('apply-request-a', { roles: [{ name: 'a' }, { name: 'a' }] })),
      ),
      step('an item without key', refused('teams/apply-request-a', team('apply-request-a', { roles: [{ count: 1 }] }))),
      step('invalid', refused('tasks/apply-request-a', task('apply-request-a', { priority: 9 }))),
      step('a rule', refused('tasks/apply-request-a', task('apply-request-a', { prompt: 'x' }))),
      step('null', refused('tasks/apply-request-null', task('apply-request-null', { title: null, prompt: null, priority: null }))),
      step(
        'a uid for one that does not exist',
        refused('tasks/apply-request-uid', task('apply-request-uid', {}, { uid: '00000000-0000-0000-0000-000000000001' })),
      ),
      step(
        'a resourceVersion for one that does not exist',
        apply('tasks/apply-request-rv', task('apply-request-rv', {}, { resourceVersion: '1' })),
      ),
      step('creates', apply('tasks/apply-request-c', task('apply-request-c')), rememberVersion),
      step(
        'the right resourceVersion',
        apply('tasks/apply-request-c', task('apply-request-c', { title: 'x' }, { resourceVersion: '{{rv}}', uid: '{{uid}}' })),
      ),
      step(
        'an old resourceVersion',
        apply('tasks/apply-request-c', task('apply-request-c', { title: 'y' }, { resourceVersion: '{{rv}}' })),
      ),
      step(
        'another uid',
        apply('tasks/apply-request-c', task('apply-request-c', { title: 'y' }, { uid: '00000000-0000-0000-0000-000000000001' })),
      ),
      step('status in the body is ignored', apply('tasks/apply-request-c', { ...task('apply-request-c'), status: { phase: 'Running' } })),
      step(
        'YAML',
        apply(
          'tasks/apply-request-yaml',
          'apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata:\n  name: apply-request-yaml\nspec:\n  team: shop\n  command: |\n    make\n    test\n',
        ),
      ),
      step(
        'duplicate keys, default',
        apply(
          'tasks/apply-request-yaml',
          'apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata:\n  name: apply-request-yaml\nspec:\n  team: shop\n  command: a\n  command: b\n',
        ),
      ),
      step(
        'duplicate keys, Strict',
        apply(
          'tasks/apply-request-yaml',
          'apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata:\n  name: apply-request-yaml\nspec:\n  team: shop\n  command: a\n  command: b\n',
          { fieldValidation: 'Strict' },
        ),
      ),
      step(
        'an unknown field, Strict',
        apply(
          'tasks/apply-request-yaml',
          'apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata:\n  name: apply-request-yaml\nspec:\n  team: shop\n  command: a\n  bogus: b\n',
          { fieldValidation: 'Strict' },
        ),
      ),
      step('no YAML', apply('tasks/apply-request-yaml', '{ a: ['), { compare: 'reason' }),
      step('an empty body', apply('tasks/apply-request-yaml', ''), { compare: 'reason' }),
      step('a list', apply('tasks/apply-request-yaml', '[]'), { compare: 'reason' }),
      step('a bad force', apply('tasks/apply-request-yaml', task('apply-request-yaml'), { force: 'perhaps' })),
      step('a bad name', apply('tasks/Apply-Request', task('Apply-Request'))),
      step('generateName', refused('tasks/apply-request-gen', { ...task('x'), metadata: { generateName: 'apply-request-' } })),
      step('YAML answer', {
        ...apply('tasks/apply-request-yaml', task('apply-request-yaml')),
        headers: { 'content-type': 'application/apply-patch+yaml', accept: 'application/yaml' },
      }),
    ],
  },
  {
    name: 'apply-lists',
    steps: [
      step('creates a map list', apply('teams/apply-lists-a', team('apply-lists-a', { roles: [{ name: 'a' }, { name: 'b', count: 2 }] }))),
      step(
        'an item of another manager',
        apply('teams/apply-lists-a', bare('Team', 'apply-lists-a', { spec: { roles: [{ name: 'c' }] } }), two),
      ),
      step(
        'a field in the item of another manager',
        apply(
          'teams/apply-lists-a',
          bare('Team', 'apply-lists-a', { spec: { roles: [{ name: 'c' }, { name: 'a', image: 'rust' }] } }),
          two,
        ),
      ),
      step('a new order', apply('teams/apply-lists-a', team('apply-lists-a', { roles: [{ name: 'b', count: 2 }, { name: 'a' }] }))),
      step(
        'an item in front',
        apply('teams/apply-lists-a', team('apply-lists-a', { roles: [{ name: 'first' }, { name: 'b', count: 2 }, { name: 'a' }] })),
      ),
      step('an item is dropped', apply('teams/apply-lists-a', team('apply-lists-a', { roles: [{ name: 'first' }, { name: 'a' }] }))),
      step(
        'an item is dropped that another manager shares',
        apply('teams/apply-lists-a', team('apply-lists-a', { roles: [{ name: 'first' }] })),
      ),
      step(
        'conflict inside an item',
        apply('teams/apply-lists-a', bare('Team', 'apply-lists-a', { spec: { roles: [{ name: 'a', image: 'go' }] } }), {
          fieldManager: 'three',
        }),
      ),
      step('the other manager drops all', apply('teams/apply-lists-a', bare('Team', 'apply-lists-a', {}), two)),
      step(
        'sets',
        apply(
          'tasks/apply-lists-t',
          task('apply-lists-t', { tags: ['x', 'y'], dependsOn: ['p'], acceptanceCriteria: ['one', 'two'], env: { A: '1' } }),
        ),
      ),
      step(
        'set items of another manager',
        apply('tasks/apply-lists-t', bare('Task', 'apply-lists-t', { spec: { tags: ['z', 'x'], env: { B: '2' } } }), two),
      ),
      step(
        'set items are dropped',
        apply('tasks/apply-lists-t', task('apply-lists-t', { tags: ['y'], acceptanceCriteria: ['one', 'two'] })),
      ),
      step(
        'atomic lists conflict as a whole',
        apply('tasks/apply-lists-t', bare('Task', 'apply-lists-t', { spec: { acceptanceCriteria: ['three'] } }), { fieldManager: 'three' }),
      ),
      step('an empty set', apply('tasks/apply-lists-t', task('apply-lists-t', { tags: [], acceptanceCriteria: [] }))),
      step('an empty map', apply('tasks/apply-lists-t', task('apply-lists-t', { env: {} }))),
      step(
        'an updater adds to a set',
        jsonPatch('tasks/apply-lists-t', [{ op: 'add', path: '/spec/tags/-', value: 'u' }], { fieldManager: 'editor' }),
      ),
      step(
        'an updater removes from a set',
        jsonPatch('tasks/apply-lists-t', [{ op: 'remove', path: '/spec/tags/0' }], { fieldManager: 'editor' }),
      ),
      step(
        'free objects',
        apply('agents/apply-lists-free', agent('apply-lists-free', { inputSchema: { a: { b: [1, 2], c: null }, d: {} } })),
      ),
      step(
        'free objects merge by key',
        apply('agents/apply-lists-free', bare('Agent', 'apply-lists-free', { spec: { inputSchema: { a: { e: 1 }, f: 'g' } } }), two),
      ),
      step(
        'free objects are pruned by key',
        apply('agents/apply-lists-free', agent('apply-lists-free', { inputSchema: { a: { b: [3] } } })),
      ),
      step(
        'integer keys',
        apply(
          'agents/apply-lists-free',
          bare('Agent', 'apply-lists-free', { spec: { portForwards: [{ guestPort: 80 }, { guestPort: 443, hostPort: 4443 }] } }),
          { fieldManager: 'ports' },
        ),
      ),
      step(
        'integer keys of another',
        apply(
          'agents/apply-lists-free',
          bare('Agent', 'apply-lists-free', { spec: { portForwards: [{ guestPort: 443, hostPort: 5555 }] } }),
          { fieldManager: 'ports2' },
        ),
      ),
      step(
        'nested map lists',
        apply(
          'teams/apply-lists-n',
          team('apply-lists-n', {
            roles: [{ name: 'a', skills: ['x'], portForwards: [{ guestPort: 80 }] }, { name: 'b' }],
            tasks: [
              { name: 't', command: 'x', dependsOn: ['u'] },
              { name: 'u', command: 'x' },
            ],
          }),
        ),
      ),
      step(
        'nested map lists of another',
        apply(
          'teams/apply-lists-n',
          bare('Team', 'apply-lists-n', { spec: { roles: [{ name: 'a', skills: ['y'], portForwards: [{ guestPort: 81 }] }] } }),
          two,
        ),
      ),
      step(
        'nested map lists dropped',
        apply('teams/apply-lists-n', team('apply-lists-n', { roles: [{ name: 'a' }, { name: 'b' }] })),
        rememberVersion,
      ),
      step(
        'the whole by put',
        put('teams/apply-lists-n', team('apply-lists-n', { roles: [{ name: 'z' }] }, { resourceVersion: '{{rv}}' })),
      ),
      step('at the end', get('teams/apply-lists-n')),
    ],
  },
  {
    name: 'apply-status',
    steps: [
      step('on nothing', apply('tasks/apply-status-none/status', status('apply-status-none', { phase: 'Running' }))),
      step('create', post('tasks', task('apply-status-a'))),
      step(
        'status',
        apply('tasks/apply-status-a/status', status('apply-status-a', { phase: 'Running', conditions: [condition('Ready', 'Yes')] })),
      ),
      step(
        'unchanged',
        apply('tasks/apply-status-a/status', status('apply-status-a', { phase: 'Running', conditions: [condition('Ready', 'Yes')] })),
      ),
      step(
        'another condition by another',
        apply('tasks/apply-status-a/status', status('apply-status-a', { conditions: [condition('Stuck', 'No')] }), two),
      ),
      step('conflict', apply('tasks/apply-status-a/status', status('apply-status-a', { phase: 'Failed' }), two)),
      step(
        'spec in the body is ignored',
        apply(
          'tasks/apply-status-a/status',
          { ...task('apply-status-a', { title: 'x' }, { labels: { a: '1' } }), status: { owner: 'me' } },
          { fieldManager: 'three' },
        ),
      ),
      step(
        'the same manager on the main resource',
        apply('tasks/apply-status-a', task('apply-status-a', { title: 'y' }), { force: 'true' }),
      ),
      step('status by update', mergePatch('tasks/apply-status-a/status', { status: { attempt: 1 } }, { fieldManager: 'editor' })),
      step('conflict with an updater of the status', apply('tasks/apply-status-a/status', status('apply-status-a', { attempt: 2 }), two)),
      step('dropped', apply('tasks/apply-status-a/status', status('apply-status-a', {}))),
      step('unknown field', apply('tasks/apply-status-a/status', status('apply-status-a', { bogus: 1 }))),
      step('invalid', apply('tasks/apply-status-a/status', status('apply-status-a', { phase: 'Bogus' }), { force: 'true' })),
      step('at the end', get('tasks/apply-status-a')),
    ],
  },
  {
    name: 'apply-migration',
    steps: [
      step('create without tracking', post('tasks', task('apply-migration-a', { title: 'one' })), rememberVersion),
      step('tracking is reset', jsonPatch('tasks/apply-migration-a', [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }])),
      step('an update stays untracked', mergePatch('tasks/apply-migration-a', { spec: { title: 'two' } })),
      step(
        'the first apply conflicts with what was before',
        apply('tasks/apply-migration-a', task('apply-migration-a', { title: 'three' })),
      ),
      step('the first apply, forced', apply('tasks/apply-migration-a', task('apply-migration-a', { title: 'three' }), { force: 'true' })),
      step(
        'client-side apply',
        post(
          'tasks',
          task(
            'apply-migration-b',
            { title: 'one', tags: ['x'] },
            {
              annotations: {
                'kubectl.kubernetes.io/last-applied-configuration': `${JSON.stringify(task('apply-migration-b', { title: 'one', tags: ['x'] }, { annotations: {}, namespace: 'default' }))}\n`,
              },
            },
          ),
          { fieldManager: 'kubectl-client-side-apply' },
        ),
      ),
      step(
        'another manager than kubectl conflicts',
        apply('tasks/apply-migration-b', task('apply-migration-b', { title: 'two', tags: ['x'] })),
      ),
      step(
        'kubectl may change what it applied',
        apply('tasks/apply-migration-b', task('apply-migration-b', { title: 'two', tags: ['x', 'y'] }), { fieldManager: 'kubectl' }),
      ),
      step('an edit', mergePatch('tasks/apply-migration-b', { spec: { title: 'edited' } }, { fieldManager: 'editor' })),
      step(
        'kubectl conflicts with the edit',
        apply('tasks/apply-migration-b', task('apply-migration-b', { title: 'three', tags: ['x', 'y'] }), { fieldManager: 'kubectl' }),
      ),
      step(
        'kubectl forces',
        apply('tasks/apply-migration-b', task('apply-migration-b', { title: 'three' }), { fieldManager: 'kubectl', force: 'true' }),
      ),
      step(
        'an annotation that is no JSON',
        mergePatch(
          'tasks/apply-migration-b',
          { metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'x' } }, spec: { title: 'again' } },
          { fieldManager: 'editor' },
        ),
      ),
      step(
        'kubectl conflicts then',
        apply('tasks/apply-migration-b', task('apply-migration-b', { title: 'four' }), { fieldManager: 'kubectl' }),
      ),
      step(
        'a manager rewrites managedFields',
        jsonPatch('tasks/apply-migration-b', [
          {
            op: 'replace',
            path: '/metadata/managedFields',
            value: [
              {
                manager: 'kubectl',
                operation: 'Apply',
                apiVersion: 'agentiso.dev/v1alpha1',
                time: '2020-01-01T00:00:00Z',
                fieldsType: 'FieldsV1',
                fieldsV1: { 'f:spec': { 'f:title': {}, 'f:command': {}, 'f:team': {} } },
              },
            ],
          },
        ]),
      ),
      step(
        'which takes effect',
        apply('tasks/apply-migration-b', task('apply-migration-b', { title: 'five' }), { fieldManager: 'kubectl' }),
      ),
      step(
        'undecodable managedFields',
        jsonPatch('tasks/apply-migration-b', [
          {
            op: 'replace',
            path: '/metadata/managedFields',
            value: [{ manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV9' }],
          },
        ]),
      ),
      step(
        'eleven updaters',
        jsonPatch('tasks/apply-migration-b', [{ op: 'replace', path: '/spec/maxAttempts', value: 10 }], { fieldManager: 'u0' }),
      ),
      ...Array.from({ length: 11 }, (_none, index) =>
        step(
          `updater ${index + 1}`,
          mergePatch(
            'tasks/apply-migration-b',
            { spec: { env: { [`E${index}`]: '1' } } },
            { fieldManager: `u${String(index + 1).padStart(2, '0')}` },
          ),
          {
            // Which entries count as oldest depends on the seconds they were written in.
            pick: (body) => ({ managers: (body as { metadata: { managedFields: unknown[] } }).metadata.managedFields.length }),
          },
        ),
      ),
    ],
  },
];
