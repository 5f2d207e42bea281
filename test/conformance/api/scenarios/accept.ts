/** Content negotiation: tables, metadata only, YAML, what is not acceptable. */
import type { Scenario } from '../scenario.ts';
import { agent, condition, del, get, merge, mergePatch, post, put, rememberVersion, step, tableAccept, task, team } from './requests.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const accept = (value: string) => ({ accept: value });
const label = { labelSelector: 'accept=yes' };
const labels = { labels: { accept: 'yes' } };

export const acceptScenarios: Scenario[] = [
  {
    name: 'table',
    steps: [
      step('empty', get('merges', label, accept(table))),
      step('a merge', post('merges', merge('table-m', {}, labels))),
      step('a team', post('teams', team('table-t', { description: 'x' }, labels))),
      step('an agent', post('agents', agent('table-a', { model: 'm' }, labels))),
      step('a task', post('tasks', task('table-k', { assignTo: 'bob' }, labels))),
      step('merges', get('merges', label, accept(table))),
      step('teams', get('teams', label, accept(table))),
      step('agents', get('agents', label, accept(table))),
      step('tasks', get('tasks', label, accept(table))),
      step(
        'status of the agent',
        mergePatch('agents/table-a/status', {
          status: {
            phase: 'Ready',
            restarts: 3,
            currentTasks: ['x', 'y'],
            lastHeartbeat: '2020-01-01T00:00:00Z',
            isolation: { driver: 'vm' },
            conditions: [condition('Other', 'No'), condition('Ready', 'Fine')],
          },
        }),
      ),
      step(
        'status of the task',
        mergePatch('tasks/table-k/status', { status: { phase: 'Blocked', blockedBy: ['p', 'q'], attempt: 0, result: { exitCode: 1 } } }),
      ),
      step(
        'status of the team',
        mergePatch('teams/table-t/status', {
          status: { phase: 'Ready', budget: { used: 1, remaining: 9 }, taskSummary: { total: 2, succeeded: 1 } },
        }),
      ),
      step('agents with status', get('agents', label, accept(table))),
      step('tasks with status', get('tasks', label, accept(table))),
      step('teams with status', get('teams', label, accept(table))),
      step('a single one', get('agents/table-a', {}, accept(table))),
      step('includeObject Object', get('merges', { ...label, includeObject: 'Object' }, accept(table))),
      step('includeObject None', get('merges', { ...label, includeObject: 'None' }, accept(table))),
      step('includeObject Metadata', get('merges', { ...label, includeObject: 'Metadata' }, accept(table))),
      step('includeObject empty', get('merges', { ...label, includeObject: '' }, accept(table))),
      step('includeObject bogus', get('merges', { ...label, includeObject: 'Bogus' }, accept(table))),
      step('includeObject bogus without table', get('merges', { ...label, includeObject: 'Bogus' }), {
        pick: (body) => (body as { kind: string }).kind,
      }),
      step('v1beta1', get('merges', label, accept('application/json;as=Table;v=v1beta1;g=meta.k8s.io'))),
      step(
        'the list kubectl sends',
        get(
          'merges',
          label,
          accept('application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json'),
        ),
        { pick: (body) => [(body as { kind: string }).kind, (body as { apiVersion: string }).apiVersion] },
      ),
      step('an error is no table', get('merges/table-none', {}, accept(table))),
      step('an error is no table, with fallback', get('merges/table-none', {}, accept(tableAccept))),
      step('create answers a table', post('merges', merge('table-new', {}, labels), {}, accept(table)), {
        remember: { rv: '/rows/0/object/metadata/resourceVersion' },
      }),
      step(
        'update answers a table',
        put('merges/table-new', merge('table-new', { allowDirty: true }, { ...labels, resourceVersion: '{{rv}}' }), {}, accept(table)),
      ),
      step('patch answers a table', {
        ...mergePatch('merges/table-new', { spec: { allowDirty: false } }),
        headers: { 'content-type': 'application/merge-patch+json', accept: table },
      }),
      step('delete with table only', del('merges/table-new', undefined, {}, accept(table))),
      step('delete collection with table only', del('merges', undefined, { labelSelector: 'accept=none' }, accept(table))),
      step('a table as YAML', get('merges', label, accept('application/yaml;as=Table;v=v1;g=meta.k8s.io'))),
    ],
  },
  {
    name: 'accept',
    steps: [
      step('create', post('merges', merge('accept-a', {}, labels))),
      ...[
        'application/json',
        '*/*',
        'application/*',
        'text/html,application/xhtml+xml,*/*;q=0.8',
        'text/plain',
        'application/xml',
        'application/vnd.kubernetes.protobuf,application/json',
        'application/vnd.kubernetes.protobuf',
        'application/cbor',
        'application/json;as=Table;v=v1;g=other',
        'application/json;as=Table;v=v9;g=meta.k8s.io',
        'application/json;as=Bogus;v=v1;g=meta.k8s.io',
        'application/json;as=Bogus;v=v1;g=meta.k8s.io,application/json',
        'application/json;as=Table',
        'application/json;bogus=1',
        'application/json;pretty=1',
        'application/json;stream=watch',
        'application/json; q=0.5, application/yaml; q=0.9',
        'APPLICATION/JSON',
        '',
        'garbage',
        ';',
        'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
        'application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadata',
        'application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io',
        'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      ].map((value) => step(`object as ${value}`, get('merges/accept-a', {}, accept(value)))),
      ...[
        'application/yaml',
        'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
        'application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io',
        'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
        'application/yaml;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
        'text/plain',
        'text/plain,application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      ].map((value) => step(`list as ${value}`, get('merges', label, accept(value)))),
      step('YAML of an object', get('merges/accept-a', {}, accept('application/yaml'))),
      step('YAML of an error', get('merges/accept-none', {}, accept('application/yaml'))),
      step('an error that is not acceptable', get('merges/accept-none', {}, accept('text/plain'))),
      step('a path error as YAML', get('/apis/agentiso.dev/v9', {}, accept('application/yaml'))),
      step(
        'create with metadata only',
        post('merges', merge('accept-b', {}, labels), {}, accept('application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io')),
      ),
      step('create that is not acceptable', post('merges', merge('accept-c', {}, labels), {}, accept('text/plain'))),
      step('which creates nothing', get('merges/accept-c')),
      step(
        'delete with metadata only',
        del('merges/accept-b', undefined, {}, accept('application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io')),
      ),
    ],
  },
  {
    name: 'bodies',
    steps: [
      step('create', post('merges', merge('bodies-a')), rememberVersion),
      step('no body', { method: 'POST', path: '/apis/agentiso.dev/v1alpha1/namespaces/default/merges' }, { compare: 'reason' }),
      step('an empty body', post('merges', ''), { compare: 'reason' }),
      step('white space', post('merges', '   '), { compare: 'reason' }),
      step('cut off', post('merges', '{"apiVersion":"agentiso.dev/v1alpha1","kind":"Merge","metadata":{'), { compare: 'reason' }),
      step('text', post('merges', 'hello'), { compare: 'reason' }),
      step('a list', post('merges', '[]'), { compare: 'reason' }),
      step('a string', post('merges', '"x"'), { compare: 'reason' }),
      step('a number', post('merges', '7'), { compare: 'reason' }),
      step('null', post('merges', 'null'), { compare: 'reason' }),
      step('an empty object', post('merges', '{}'), { compare: 'reason' }),
      step('something after the object', post('merges', `${JSON.stringify(merge('bodies-after'))} x`), { compare: 'reason' }),
      step('two objects', post('merges', `${JSON.stringify(merge('bodies-two'))}${JSON.stringify(merge('bodies-three'))}`), {
        compare: 'reason',
      }),
      step(
        'put without body',
        { method: 'PUT', path: '/apis/agentiso.dev/v1alpha1/namespaces/default/merges/bodies-a' },
        { compare: 'reason' },
      ),
      step('bad YAML', { ...post('merges', 'a: [b'), headers: { 'content-type': 'application/yaml' } }, { compare: 'reason' }),
      step('YAML sent as JSON', post('merges', 'apiVersion: agentiso.dev/v1alpha1\nkind: Merge\n'), { compare: 'reason' }),
      step(
        'two YAML documents',
        {
          ...post(
            'merges',
            `---\napiVersion: agentiso.dev/v1alpha1\nkind: Merge\nmetadata: {name: bodies-docs}\nspec: {team: shop, sources: [{agent: a}], target: {branch: main}}\n---\nfoo: bar\n`,
          ),
          headers: { 'content-type': 'application/yaml' },
        },
        { compare: 'reason' },
      ),
      step('JSON sent as YAML', {
        ...post('merges', JSON.stringify(merge('bodies-json'))),
        headers: { 'content-type': 'application/yaml' },
      }),
      step('text/plain', post('merges', merge('bodies-b'), {}, { 'content-type': 'text/plain' })),
      step('a content type with parameters', post('merges', merge('bodies-c'), {}, { 'content-type': 'application/json; charset=utf-8' })),
      step('no content type', post('merges', merge('bodies-d'), {}, { 'content-type': '' })),
      step('a bad content type', post('merges', merge('bodies-e'), {}, { 'content-type': '///' })),
      step(
        'put as text/plain',
        put('merges/bodies-a', merge('bodies-a', {}, { resourceVersion: '{{rv}}' }), {}, { 'content-type': 'text/plain' }),
      ),
      step('unicode', post('merges', merge('bodies-unicode', { commitMessage: 'Grüße 世界 🚀 \u2028 <&>' }))),
      step(
        'an invalid surrogate',
        post('merges', JSON.stringify(merge('bodies-surrogate', { commitMessage: 'XX' })).replace('XX', '\\ud800')),
      ),
      step(
        'keys JavaScript knows',
        post('tasks', JSON.stringify(task('bodies-proto', { env: { AA: 'x' } })).replace('"AA"', '"__proto__"')),
      ),
      step('dryRun of another value', post('merges', merge('bodies-f'), { dryRun: 'Bogus' })),
      step('dryRun twice', post('merges', merge('bodies-f'), { dryRun: ['All', 'All'] })),
      step('dryRun All and another', post('merges', merge('bodies-f'), { dryRun: ['All', 'Bogus'] })),
      step('an empty dryRun', post('merges', merge('bodies-g'), { dryRun: '' })),
      step('a bad pretty', get('merges/bodies-a', { pretty: 'x' }), { pick: (body) => (body as { kind: string }).kind }),
      step('a timeout', get('merges/bodies-a', { timeout: '32s' }), { pick: (body) => (body as { kind: string }).kind }),
      step('a bad timeout', get('merges/bodies-a', { timeout: 'x' })),
      step('a timeout of 0s', get('merges/bodies-a', { timeout: '0s' }), { pick: (body) => (body as { kind: string }).kind }),
      step('a timeout beyond all limits', get('merges/bodies-a', { timeout: '10m' }), { pick: (body) => (body as { kind: string }).kind }),
      step('a write with a bad timeout', post('merges', merge('bodies-h'), { timeout: 'x' })),
      step(
        'a body on a GET',
        { method: 'GET', path: '/apis/agentiso.dev/v1alpha1/namespaces/default/merges/bodies-a', body: { a: 1 } },
        { pick: (body) => (body as { kind: string }).kind },
      ),
    ],
  },
];
