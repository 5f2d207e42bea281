import { afterEach, describe, expect, it } from 'vitest';
import type { Connection } from './connection.ts';
import { type ApiResource, type Discovery, discoveryOf, qualifiedSingular } from './discovery.ts';
import { loadDiscovery } from './discovery-load.ts';

function resource(plural: string, kind: string, more: Partial<ApiResource> = {}): ApiResource {
  return {
    group: '',
    version: 'v1',
    plural,
    kind,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    verbs: ['get', 'list'],
    subresources: [],
    isNamespaced: true,
    isPreferred: true,
    ...more,
  };
}

const ours = { group: 'agentiso.dev', version: 'v1alpha1' };
const discovery = discoveryOf([
  resource('namespaces', 'Namespace', { shortNames: ['ns'] }),
  resource('events', 'Event', { shortNames: ['ev'] }),
  resource('teams', 'Team', { ...ours, shortNames: ['tm'], categories: ['all'] }),
  resource('tasks', 'Task', { ...ours, categories: ['all'] }),
  resource('reviews', 'Review', { ...ours, categories: ['all'], verbs: ['create'] }),
  resource('teams', 'Team', { group: 'agentiso.dev', version: 'v1', isPreferred: false }),
  resource('events', 'Event', { group: 'events.k8s.io' }),
]);
const idOf = ({ plural, version, group }: ApiResource) => `${plural}.${version}.${group}`;

describe('what a word means', () => {
  it.each([
    { word: 'teams', want: 'teams.v1alpha1.agentiso.dev' },
    { word: 'team', want: 'teams.v1alpha1.agentiso.dev' },
    { word: 'Team', want: 'teams.v1alpha1.agentiso.dev' },
    { word: 'tm', want: 'teams.v1alpha1.agentiso.dev' },
    { word: 'team.agentiso.dev', want: 'teams.v1alpha1.agentiso.dev' },
    { word: 'teams.v1.agentiso.dev', want: 'teams.v1.agentiso.dev' },
    { word: 'namespaces.v1', want: 'namespaces.v1.' },
    { word: 'ev', want: 'events.v1.' },
    { word: 'events.events.k8s.io', want: 'events.v1.events.k8s.io' },
  ])('$word is $want', ({ word, want }) => {
    expect(idOf(discovery.find(word))).toBe(want);
  });

  it('takes a category for everything that can be listed in it', () => {
    expect(discovery.findAll('all').map(({ plural }) => plural)).toEqual(['teams', 'tasks']);
    expect(discovery.findAll('tm').map(({ plural }) => plural)).toEqual(['teams']);
  });

  it.each([
    { word: 'temas', want: 'the server doesn\'t have a resource type "temas"; did you mean teams?' },
    { word: 'xyz', want: 'the server doesn\'t have a resource type "xyz"' },
    { word: 'task.agentiso.dve', want: 'did you mean task.agentiso.dev?' },
    { word: 'teams.nowhere', want: 'the server doesn\'t have a resource type "teams.nowhere"' },
    { word: 'al', want: 'did you mean all?' },
  ])('does not know $word', ({ word, want }) => {
    expect(() => discovery.findAll(word)).toThrow(want);
  });

  it('finds the resource of an object', () => {
    expect(discovery.ofKind('agentiso.dev/v1', 'Team')?.version).toBe('v1');
    expect(discovery.ofKind('agentiso.dev/v2', 'Team')).toBeUndefined();
  });
});

const answersOf = (answers: Readonly<Record<string, unknown>>): Connection => ({
  name: 'test',
  request: async ({ path }) => ({
    status: path in answers ? 200 : 404,
    headers: {},
    text: async () => JSON.stringify(answers[path] ?? { kind: 'Status', message: `nothing at ${path}`, reason: 'NotFound' }),
    lines: async function* () {},
    chunks: async function* () {},
  }),
  close: () => {},
});

describe('asking a server', () => {
  let loaded: Discovery | undefined;
  afterEach(() => {
    loaded = undefined;
  });
  const found = (word: string) => (loaded ? `${qualifiedSingular(loaded.find(word))} ${loaded.find(word).version}` : '');

  it('reads aggregated discovery, and prefers the first version that has a resource', async () => {
    const entry = (name: string, kind: string) => ({ resource: name, responseKind: { kind }, scope: 'Namespaced', verbs: ['list'] });
    loaded = await loadDiscovery(
      answersOf({
        '/api': { kind: 'APIGroupDiscoveryList', items: [] },
        '/apis': {
          kind: 'APIGroupDiscoveryList',
          items: [
            {
              metadata: { name: 'g.io' },
              versions: [
                { version: 'v2', resources: [entry('as', 'A')] },
                { version: 'v1', resources: [entry('as', 'A'), entry('bs', 'B')] },
              ],
            },
          ],
        },
      }),
    );
    expect([found('as'), found('a.v1.g.io'), found('bs')]).toEqual(['a.g.io v2', 'a.g.io v1', 'b.g.io v1']);
  });

  it('reads the lists of servers without it', async () => {
    const list = (...resources: object[]) => ({ kind: 'APIResourceList', resources });
    loaded = await loadDiscovery(
      answersOf({
        '/api': { kind: 'APIVersions', versions: ['v1'] },
        '/api/v1': list({
          name: 'namespaces',
          singularName: '',
          namespaced: false,
          kind: 'Namespace',
          verbs: ['list'],
          shortNames: ['ns'],
        }),
        '/apis': {
          kind: 'APIGroupList',
          groups: [{ name: 'g.io', versions: [{ version: 'v1' }, { version: 'v2' }], preferredVersion: { version: 'v2' } }],
        },
        '/apis/g.io/v1': list({ name: 'as', singularName: 'a', namespaced: true, kind: 'A', verbs: ['list'] }),
        '/apis/g.io/v2': list(
          { name: 'as', singularName: 'a', namespaced: true, kind: 'A', verbs: ['list'] },
          { name: 'as/status', singularName: '', namespaced: true, kind: 'A', verbs: ['get'] },
        ),
      }),
    );
    expect([found('ns'), found('a')]).toEqual(['namespace v1', 'a.g.io v2']);
    expect([loaded.find('ns').isNamespaced, loaded.find('a').subresources]).toEqual([false, ['status']]);
  });
});
