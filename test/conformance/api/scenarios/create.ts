/** POST: names, defaults, nulls, identity of the document. */
import type { Scenario } from '../scenario.ts';
import { agent, get, merge, namespace, post, rememberVersion, step, task, team } from './requests.ts';

const long = 'x'.repeat(60);

export const createScenarios: Scenario[] = [
  {
    name: 'create-defaults',
    steps: [
      step('a minimal team gets every default', post('teams', team('create-defaults-team'))),
      step('reading it again gives the same', get('teams/create-defaults-team')),
      step('a minimal agent gets every default', post('agents', agent('create-defaults-agent'))),
      step('a minimal task gets every default', post('tasks', task('create-defaults-task'))),
      step('a minimal merge gets every default', post('merges', merge('create-defaults-merge'))),
      step(
        'defaults inside list items',
        post(
          'teams',
          team('create-defaults-items', {
            roles: [
              { name: 'a', count: 2 },
              { name: 'b', resources: { vcpus: 1 } },
            ],
          }),
        ),
      ),
      step(
        'a default object is filled even if it is given empty',
        post('teams', team('create-defaults-empty', { budget: {}, network: {}, golden: {}, merge: {}, repo: {} })),
      ),
      step(
        'null takes the default, or is dropped, or is kept where it is allowed',
        post(
          'teams',
          team('create-defaults-null', {
            suspend: null,
            budget: null,
            description: null,
            parent: null,
            repo: { path: null, ref: null },
            network: { allowInternet: null, allowedPorts: null },
          }),
        ),
      ),
      step('null for a required field', post('teams', team('create-defaults-required', { roles: null }))),
      step('null as item of a list', post('teams', team('create-defaults-item', { roles: [null] }))),
      step('null for the whole spec', post('teams', { ...team('create-defaults-spec'), spec: null })),
      step(
        'null metadata members',
        post('merges', merge('create-defaults-meta', {}, { labels: null, annotations: null, finalizers: null })),
      ),
      step('status is dropped', post('merges', { ...merge('create-defaults-status'), status: { phase: 'Merged', reason: 'x' } })),
      step('even a wrong status is dropped', post('merges', { ...merge('create-defaults-wrong'), status: { phase: 'Bogus' } })),
      step('integers as floats', post('tasks', task('create-defaults-float', { priority: 2.0 }))),
      step('integers as raw floats', post('tasks', JSON.stringify(task('create-defaults-raw', { priority: 77 })).replace('77', '2.0'))),
      step('integers with an exponent', post('tasks', JSON.stringify(task('create-defaults-exp', { priority: 77 })).replace('77', '2e0'))),
    ],
  },
  {
    name: 'create-names',
    steps: [
      step('upper case', post('merges', merge('create-names-UPPER'))),
      step('underscore', post('merges', merge('create_names'))),
      step('a leading dash', post('merges', merge('-create-names'))),
      step('empty', post('merges', merge(''))),
      step('absent', post('merges', { ...merge('x'), metadata: {} })),
      step('no metadata', post('merges', { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Merge', spec: merge('x').spec })),
      step('a number', post('merges', { ...merge('x'), metadata: { name: 7 } }), { compare: 'reason' }),
      step('a dot', post('merges', merge('create-names.dot'))),
      step('63 characters', post('merges', merge(`create-names-${long}`.slice(0, 63)))),
      step('64 characters', post('merges', merge(`create-names-${long}`.slice(0, 64)))),
      step('254 characters', post('merges', merge(`create-names-${long.repeat(5)}`.slice(0, 254)))),
      step('generateName', post('merges', { ...merge('x'), metadata: { generateName: 'create-names-gen-' } })),
      step('generateName and name', post('merges', merge('create-names-both', {}, { generateName: 'create-names-gen-' }))),
      step('a long generateName is cut', post('merges', { ...merge('x'), metadata: { generateName: `create-names-${long}` } })),
      step('a bad generateName', post('merges', { ...merge('x'), metadata: { generateName: 'create-names-BAD-' } }), {
        pick: (body) => JSON.parse(JSON.stringify(body).replaceAll(/BAD-\w{5}/g, 'BAD-random')) as unknown,
      }),
      step('bad labels', post('merges', merge('create-names-labels', {}, { labels: { 'a b': 'ok', ok: 'not ok!' } }))),
      step('a label that is not text', post('merges', merge('create-names-label', {}, { labels: { a: 1 } })), { compare: 'reason' }),
      step('a bad annotation key', post('merges', merge('create-names-anno', {}, { annotations: { 'a b': 'ok' } }))),
      step('a bad finalizer', post('merges', merge('create-names-fin', {}, { finalizers: ['no domain'] }))),
      step('a finalizer without domain', post('merges', merge('create-names-fin2', {}, { finalizers: ['plain'] }))),
      step(
        'bad owner references',
        post('merges', merge('create-names-own', {}, { ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] })),
      ),
      step(
        'two controllers among the owners',
        post(
          'merges',
          merge(
            'create-names-own2',
            {},
            {
              ownerReferences: ['00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'].map((uid) => ({
                apiVersion: 'agentiso.dev/v1alpha1',
                kind: 'Team',
                name: 'x',
                uid,
                controller: true,
              })),
            },
          ),
        ),
      ),
      step(
        'the server sets what only it may set',
        post(
          'merges',
          merge(
            'create-names-set',
            {},
            {
              uid: '00000000-0000-0000-0000-000000000001',
              generation: 77,
              creationTimestamp: '2020-01-01T00:00:00Z',
              deletionTimestamp: '2020-01-01T00:00:00Z',
              deletionGracePeriodSeconds: 5,
              selfLink: '/x',
            },
          ),
        ),
      ),
      step('a date that is none', post('merges', merge('create-names-date', {}, { creationTimestamp: 'yesterday' })), {
        compare: 'reason',
      }),
    ],
  },
  {
    name: 'create-identity',
    steps: [
      step('resourceVersion in the body', post('merges', merge('create-identity-rv', {}, { resourceVersion: '1' }))),
      step('another namespace in the body', post('merges', merge('create-identity-ns', {}, { namespace: 'other' }))),
      step('the same namespace in the body', post('merges', merge('create-identity-a', {}, { namespace: 'default' })), rememberVersion),
      step('exists', post('merges', merge('create-identity-a'))),
      step('exists, and is invalid', post('merges', merge('create-identity-a', { strategy: 'x' }))),
      step('another kind', post('merges', team('create-identity-kind'))),
      step('another version', post('merges', { ...merge('create-identity-version'), apiVersion: 'agentiso.dev/v1' })),
      step('another group', post('merges', { ...merge('create-identity-group'), apiVersion: 'other.dev/v1alpha1' })),
      step('no kind', post('merges', { ...merge('create-identity-nokind'), kind: undefined })),
      step('no apiVersion', post('merges', { ...merge('create-identity-noversion'), apiVersion: undefined })),
      step('a list', post('merges', { apiVersion: 'agentiso.dev/v1alpha1', kind: 'MergeList', items: [] })),
      step('a namespace that does not exist', post('/apis/agentiso.dev/v1alpha1/namespaces/nowhere/merges', merge('create-identity-a'))),
      step('no namespace in the path', post('/apis/agentiso.dev/v1alpha1/merges', merge('create-identity-all'))),
      step(
        'no namespace in the path, but in the body',
        post('/apis/agentiso.dev/v1alpha1/merges', merge('create-identity-all', {}, { namespace: 'default' })),
      ),
      step('on a name', post('merges/create-identity-a', merge('create-identity-a'))),
      step('on a name that does not exist', post('merges/create-identity-none', merge('create-identity-none'))),
      step('on the status', post('merges/create-identity-a/status', merge('create-identity-a'))),
      step('YAML', {
        ...post(
          'merges',
          `apiVersion: agentiso.dev/v1alpha1\nkind: Merge\nmetadata: {name: create-identity-yaml}\nspec:\n  team: shop\n  sources: [{agent: a}]\n  target: {branch: main}\n`,
        ),
        headers: { 'content-type': 'application/yaml' },
      }),
      step('dry run stores nothing', post('merges', merge('create-identity-dry'), { dryRun: 'All' })),
      step('so it cannot be read', get('merges/create-identity-dry')),
      step('dry run of one that exists', post('merges', merge('create-identity-a'), { dryRun: 'All' })),
      step(
        'dry run with a generated name',
        post('merges', { ...merge('x'), metadata: { generateName: 'create-identity-gen-' } }, { dryRun: 'All' }),
      ),
      step('a field manager', post('merges', merge('create-identity-manager'), { fieldManager: 'painter' })),
      step('a field manager that is too long', post('merges', merge('create-identity-long'), { fieldManager: 'm'.repeat(129) })),
      step('a field manager that cannot be printed', post('merges', merge('create-identity-print'), { fieldManager: 'a\tb' })),
      step('no user agent', post('merges', merge('create-identity-agent'), {}, { 'user-agent': '' })),
      step('a long user agent', post('merges', merge('create-identity-agent2'), {}, { 'user-agent': `${'u'.repeat(200)}/v1 (linux)` })),
      step(
        'managedFields in the body count',
        post(
          'merges',
          merge(
            'create-identity-managed',
            {},
            {
              managedFields: [
                {
                  manager: 'old',
                  operation: 'Update',
                  apiVersion: 'agentiso.dev/v1alpha1',
                  time: '2020-01-01T00:00:00Z',
                  fieldsType: 'FieldsV1',
                  fieldsV1: { 'f:spec': { 'f:team': {} } },
                },
              ],
            },
          ),
        ),
      ),
      step(
        'managedFields that make no sense',
        post('merges', merge('create-identity-managed2', {}, { managedFields: [{ manager: 'old', operation: 'Nonsense' }] })),
      ),
      step('the object is where the answer says', get(`${namespace}/merges/create-identity-manager`)),
    ],
  },
];
