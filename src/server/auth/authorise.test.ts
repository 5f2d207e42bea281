import { describe, expect, it } from 'vitest';
import { authorise, listScope, type ResourceAttributes } from './authorise.ts';
import { agentIdentity, type Identity, personIdentity } from './identity.ts';
import { objectOf } from './objects.fixture.ts';

const IDENTITIES: Record<string, Identity> = {
  admin: personIdentity('admin', 'admin'),
  viewer: personIdentity('viewer', 'eve'),
  coder: agentIdentity({ namespace: 'default', team: 'sprint', name: 'coder' }),
  lead: agentIdentity({ namespace: 'default', team: 'sprint', name: 'lead' }),
};
const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'impersonate', '*'];
const GROUP = 'agentiso.dev';
const RESOURCES: Record<string, string> = {
  teams: GROUP,
  agents: GROUP,
  tasks: GROUP,
  merges: GROUP,
  'teams/status': GROUP,
  'agents/status': GROUP,
  'tasks/status': GROUP,
  'merges/status': GROUP,
  'teams/scale': GROUP,
  events: '',
  configmaps: '',
  namespaces: '',
  services: '',
  pods: '',
  'pods/log': '',
  'pods/exec': '',
  'pods/attach': '',
  'pods/portforward': '',
  'pods/proxy': '',
  leases: 'coordination.k8s.io',
  customresourcedefinitions: 'apiextensions.k8s.io',
  selfsubjectaccessreviews: 'authorization.k8s.io',
  selfsubjectrulesreviews: 'authorization.k8s.io',
  selfsubjectreviews: 'authentication.k8s.io',
  subjectaccessreviews: 'authorization.k8s.io',
  tokenreviews: 'authentication.k8s.io',
};
const KINDS: Record<string, string> = { teams: 'Team', agents: 'Agent', tasks: 'Task', merges: 'Merge', pods: 'Pod' };
const PLACES = {
  own: { namespace: 'default', team: 'sprint' },
  'other team': { namespace: 'default', team: 'sprint-two' },
  'other namespace': { namespace: 'elsewhere', team: 'sprint' },
} as const;

/** What everybody with a token may do, wherever. */
const SELF = ['create selfsubjectaccessreviews', 'create selfsubjectrulesreviews', 'create selfsubjectreviews'];
const READ_OWN = ['teams', 'agents', 'tasks', 'merges'].flatMap((of) => [`get ${of}`, `list ${of}`, `watch ${of}`, `get ${of}/status`]);
const AGENT_OWN = [...SELF, ...READ_OWN, 'get pods', 'list pods', 'watch pods', 'get teams/scale', 'create tasks'];
const ACTING = ['pods/exec', 'pods/attach', 'pods/portforward', 'pods/proxy'];
const VIEWER = [
  ...SELF,
  ...['get', 'list', 'watch'].flatMap((verb) =>
    Object.keys(RESOURCES)
      .filter((resource) => !ACTING.includes(resource))
      .map((resource) => `${verb} ${resource}`),
  ),
];
const ALL = VERBS.flatMap((verb) => Object.keys(RESOURCES).map((resource) => `${verb} ${resource}`));

/** Role and place to everything that is allowed there; what is not named is refused. */
const ALLOWED: Record<string, Record<keyof typeof PLACES, readonly string[]>> = {
  admin: { own: ALL, 'other team': ALL, 'other namespace': ALL },
  viewer: { own: VIEWER, 'other team': VIEWER, 'other namespace': VIEWER },
  coder: { own: AGENT_OWN, 'other team': SELF, 'other namespace': SELF },
  lead: { own: [...AGENT_OWN, 'update tasks', 'patch tasks'], 'other team': SELF, 'other namespace': SELF },
};

function attributes(verb: string, of: string, { namespace, team }: { namespace: string; team: string }): ResourceAttributes {
  const [resource = '', subresource] = of.split('/');
  const object = objectOf(KINDS[resource] ?? resource, { namespace, team });
  const name = object.metadata.name;
  const isOfKind = KINDS[resource] !== undefined;
  return {
    verb,
    group: RESOURCES[of] ?? '',
    version: 'v1alpha1',
    resource,
    namespace,
    name,
    ...(subresource === undefined ? {} : { subresource }),
    ...(isOfKind ? { object } : {}),
  };
}

describe.each(Object.keys(IDENTITIES))('%s', (who) => {
  const identity = IDENTITIES[who] as Identity;
  it.each(Object.keys(PLACES) as (keyof typeof PLACES)[])('may do with an object of %s exactly what the table says', (place) => {
    const combinations = ALL.filter((combination) => !combination.endsWith(' events'));
    const actual = combinations.filter((combination) => {
      const [verb = '', resource = ''] = combination.split(' ');
      return authorise(identity, attributes(verb, resource, PLACES[place])).allowed;
    });
    expect(actual.sort()).toEqual(combinations.filter((combination) => ALLOWED[who]?.[place].includes(combination)).sort());
  });
});

describe('without an object', () => {
  const ask = (who: string, verb: string, resource: string, more: Partial<ResourceAttributes> = {}) =>
    authorise(IDENTITIES[who] as Identity, {
      verb,
      group: RESOURCES[resource] ?? '',
      version: 'v1',
      resource,
      namespace: 'default',
      ...more,
    }).allowed;

  it.each([
    ['lists Teams in its namespace, to be filtered', 'list', 'teams', {}, true],
    ['does not get a Team of another name', 'get', 'teams', { name: 'other' }, false],
    ['does not get a Team without a name', 'get', 'teams', {}, false],
    ['does not list over all namespaces', 'list', 'tasks', { namespace: '' }, false],
    ['lists Events in its namespace, to be filtered', 'list', 'events', {}, true],
    ['lists Events of the other group too', 'list', 'events', { group: 'events.k8s.io' }, true],
    ['does not write Events', 'create', 'events', {}, false],
    ['does not read a resource of the same name in another group', 'list', 'tasks', { group: 'example.com' }, false],
    ['does not read every resource at once', 'list', '*', { group: '*' }, false],
    ['does not write the status of its Task', 'patch', 'tasks', { subresource: 'status' }, false],
    ['does not read a subresource that is not known', 'get', 'tasks', { subresource: 'secrets' }, false],
  ] as const)('an agent %s', (_, verb, resource, more, expected) => {
    expect(ask('coder', verb, resource, more)).toBe(expected);
  });

  it('reviews of oneself need no namespace', () => {
    for (const who of Object.keys(IDENTITIES)) expect(ask(who, 'create', 'selfsubjectreviews', { namespace: '' })).toBe(true);
  });

  it('only an admin may do everything', () => {
    expect(Object.keys(IDENTITIES).filter((who) => ask(who, '*', '*', { group: '*' }))).toEqual(['admin']);
  });

  it('an agent without a team has no rights over objects', () => {
    const nobody: Identity = { user: 'x', groups: [], role: 'agent' };
    expect(authorise(nobody, { verb: 'list', group: GROUP, version: 'v1', resource: 'tasks', namespace: 'default' })).toEqual({
      allowed: false,
      reason: 'this identity has no rights',
    });
  });
});

describe('a refusal', () => {
  it.each([
    ['viewer', 'a viewer may only read'],
    ['coder', 'an agent may only see its own team default/sprint and add to its tasks'],
  ])('tells %s why', (who, reason) => {
    expect(authorise(IDENTITIES[who] as Identity, attributes('delete', 'teams', PLACES.own))).toEqual({ allowed: false, reason });
  });
});

describe('paths that are no resources', () => {
  const OPEN = [
    '/api',
    '/apis',
    '/api/v1',
    '/apis/agentiso.dev/v1alpha1',
    '/openapi/v2',
    '/openapi/v3/apis/x',
    '/version',
    '/version/',
    '/healthz',
    '/livez/ping',
    '/readyz',
  ];
  const CLOSED = ['/', '/mcp', '/logs', '/debug/pprof', '/versions', '/apisx', '/metrics/x', '/api/../mcp', '', '/API'];
  it.each([
    ['admin', [...OPEN, '/metrics', ...CLOSED]],
    ['viewer', [...OPEN, '/metrics']],
    ['coder', OPEN],
    ['lead', OPEN],
  ])('%s may get what the list says', (who, expected) => {
    const paths = [...OPEN, '/metrics', ...CLOSED];
    const actual = paths.filter((path) => authorise(IDENTITIES[who] as Identity, { verb: 'get', path }).allowed);
    expect(actual).toEqual(expected);
  });

  it('only admin may do more than get', () => {
    for (const verb of ['post', 'put', 'delete', '*']) {
      const who = Object.keys(IDENTITIES).filter((name) => authorise(IDENTITIES[name] as Identity, { verb, path: '/version' }).allowed);
      expect(who).toEqual(['admin']);
    }
  });
});

describe('the scope of a list', () => {
  it.each([
    ['admin', { all: Object.keys(RESOURCES) }],
    ['viewer', { all: Object.keys(RESOURCES) }],
    ['coder', { filtered: ['teams', 'agents', 'tasks', 'merges', 'events', 'pods'] }],
    ['lead', { filtered: ['teams', 'agents', 'tasks', 'merges', 'events', 'pods'] }],
  ])('of %s', (who, expected: { all?: string[]; filtered?: string[] }) => {
    for (const [resource, group] of Object.entries(RESOURCES)) {
      if (resource.includes('/')) continue;
      const scope = expected.all?.includes(resource) ? 'all' : expected.filtered?.includes(resource) ? 'filtered' : 'none';
      expect([resource, listScope(IDENTITIES[who] as Identity, { group, resource })]).toEqual([resource, scope]);
    }
  });
});
