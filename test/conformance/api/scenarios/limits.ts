/** Sizes and depths, and objects in several namespaces. */
import { at, type Scenario } from '../scenario.ts';
import { agent, apply, del, get, group, jsonPatch, merge, mergePatch, post, rememberVersion, step, task } from './requests.ts';

const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const nested = (name: string, depth: number) => JSON.stringify(agent(name, { inputSchema: 'HERE' })).replace('"HERE"', deep(depth));
const brief = (body: unknown) => (at(body, '/kind') === 'Status' ? body : at(body, '/metadata/name'));
const keys = (body: unknown) => ({
  kind: at(body, '/kind'),
  metadata: at(body, '/metadata'),
  items: ((at(body, '/items') ?? []) as unknown[]).map(
    (item) => `${String(at(item, '/metadata/namespace'))}/${String(at(item, '/metadata/name'))}`,
  ),
});
const namespaceObject = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const other = `${group}/namespaces/conformance/merges`;
const ending = `${group}/namespaces/conformance-ending/merges`;
const next = { remember: { token: '/metadata/continue' }, pick: keys };

export const limitScenarios: Scenario[] = [
  {
    name: 'limits',
    steps: [
      step('a body over 3 MiB', post('tasks', task('limits-a', { description: 'x'.repeat(3_300_000) })), { compare: 'reason' }),
      step('a patch over 3 MiB', mergePatch('tasks/limits-a', { spec: { description: 'x'.repeat(3_300_000) } }), { compare: 'reason' }),
      step('a large object', post('tasks', task('limits-b', { description: 'x'.repeat(262_144) })), { pick: brief }),
      step('a text over its limit', post('tasks', task('limits-c', { description: 'x'.repeat(262_145) })), { pick: brief }),
      step('text is counted in characters', post('tasks', task('limits-d', { title: '世'.repeat(256) })), { pick: brief }),
      step('emoji count once', post('tasks', task('limits-e', { title: '🚀'.repeat(256) })), { pick: brief }),
      step('annotations over their limit', post('tasks', task('limits-f', {}, { annotations: { a: 'x'.repeat(262_145) } })), {
        pick: brief,
      }),
      step('a label value over its limit', post('tasks', task('limits-g', {}, { labels: { a: 'x'.repeat(64) } })), { pick: brief }),
      step('a label key over its limit', post('tasks', task('limits-h', {}, { labels: { ['x'.repeat(64)]: 'a' } })), { pick: brief }),
      step('a label prefix over its limit', post('tasks', task('limits-i', {}, { labels: { [`${'x'.repeat(254)}/a`]: 'a' } })), {
        pick: brief,
      }),
      step(
        'labels at their limits',
        post('tasks', task('limits-j', {}, { labels: { [`${'x'.repeat(63)}.dev/${'y'.repeat(63)}`]: 'v'.repeat(63), e: '' } })),
        { pick: brief },
      ),
      step('a label prefix without name', post('tasks', task('limits-k', {}, { labels: { 'x.dev/': 'a' } })), { pick: brief }),
      step('deep', post('agents', nested('limits-deep', 500)), { pick: brief }),
      step('too deep', post('agents', nested('limits-deeper', 20_000)), { compare: 'reason', pick: brief }),
      step('too deep by apply', apply('agents/limits-deeper', nested('limits-deeper', 20_000)), {
        compare: 'reason',
        pick: (body) => typeof body,
      }),
      step('too deep by merge patch', mergePatch('agents/limits-deep', `{"spec":{"inputSchema":${deep(20_000)}}}`), {
        compare: 'reason',
        pick: brief,
      }),
      step(
        'a JSON patch that grows too much',
        jsonPatch('agents/limits-deep', [
          { op: 'replace', path: '/spec/inputSchema', value: { a: 'x'.repeat(100_000) } },
          ...Array.from({ length: 60 }, (_none, index) => ({
            op: 'copy',
            from: '/spec/inputSchema/a',
            path: `/spec/inputSchema/b${index}`,
          })),
        ]),
        { compare: 'reason', pick: brief },
      ),
      step(
        'a long query',
        get('tasks', { labelSelector: `a in (${Array.from({ length: 500 }, (_none, index) => `value-${index}`).join(',')})` }),
        { pick: keys },
      ),
    ],
  },
  {
    name: 'namespaces',
    steps: [
      step('a second namespace', post('/api/v1/namespaces', namespaceObject('conformance')), { silent: true }),
      step('an object in each', post('merges', merge('namespaces-a'))),
      step('of the same name', post(other, merge('namespaces-a')), rememberVersion),
      step('and more', post(other, merge('namespaces-b'))),
      step('one namespace', get('merges'), { pick: keys }),
      step('the other namespace', get(other), { pick: keys }),
      step('all, sorted by namespace and name', get(`${group}/merges`), { pick: keys }),
      step('all by pages', get(`${group}/merges`, { limit: '2' }), next),
      step('the next page', get(`${group}/merges`, { limit: '2', continue: '{{token}}' }), { pick: keys }),
      step('a token of all in one namespace', get('merges', { limit: '2', continue: '{{token}}' }), {
        pick: (body) => (at(body, '/kind') === 'Status' ? body : keys(body)),
      }),
      step('all but one namespace', get(`${group}/merges`, { fieldSelector: 'metadata.namespace!=default' }), { pick: keys }),
      step('the wrong namespace by field', get('merges', { fieldSelector: 'metadata.namespace=conformance' }), { pick: keys }),
      step('all as a table', get(`${group}/merges`, {}, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }), {
        pick: (body) => ((at(body, '/rows') ?? []) as unknown[]).map((row) => [at(row, '/object/metadata/namespace'), at(row, '/cells/0')]),
      }),
      step('deletion of all in one', del(other, undefined, {}), { pick: keys }),
      step('leaves the other', get(`${group}/merges`), { pick: keys }),
      step('a namespace that ends', post('/api/v1/namespaces', namespaceObject('conformance-ending')), { silent: true }),
      step('is deleted', del('/api/v1/namespaces/conformance-ending'), { silent: true }),
      step('takes no new objects', post(ending, merge('namespaces-c'))),
      step('by apply neither', apply(`${ending}/namespaces-c`, merge('namespaces-c'))),
      step('but can be read', get(ending), { pick: (body) => at(body, '/items') }),
      step('says so', get('/api/v1/namespaces/conformance-ending'), {
        pick: (body) => [at(body, '/status/phase'), at(body, '/spec/finalizers'), typeof at(body, '/metadata/deletionTimestamp')],
      }),
    ],
  },
];
