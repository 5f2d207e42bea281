import { describe, expect, it } from 'vitest';
import { routeOf } from './route.ts';

const TEAMS = '/apis/agentiso.dev/v1alpha1';

function shown(method: string, path: string, isWatch = false): unknown {
  const route = routeOf(method, path, isWatch);
  if (route === undefined) return undefined;
  if ('is' in route) return route.is;
  const { resource, verb, ...rest } = route;
  return [verb, resource.plural, rest];
}

describe('routeOf', () => {
  it.each([
    ['GET', `${TEAMS}/teams`, ['list', 'teams', {}]],
    ['GET', `${TEAMS}/teams/`, ['list', 'teams', {}]],
    ['GET', `${TEAMS}/namespaces/a/teams`, ['list', 'teams', { namespace: 'a' }]],
    ['GET', `${TEAMS}/namespaces/a/teams/x`, ['get', 'teams', { namespace: 'a', name: 'x' }]],
    ['PUT', `${TEAMS}/namespaces/a/teams/x/status`, ['update', 'teams', { namespace: 'a', name: 'x', subresource: 'status' }]],
    ['PATCH', `${TEAMS}/namespaces/a/teams/x`, ['patch', 'teams', { namespace: 'a', name: 'x' }]],
    ['POST', `${TEAMS}/namespaces/a/teams`, ['create', 'teams', { namespace: 'a' }]],
    ['DELETE', `${TEAMS}/namespaces/a/teams`, ['deletecollection', 'teams', { namespace: 'a' }]],
    ['DELETE', `${TEAMS}/namespaces/a/teams/x`, ['delete', 'teams', { namespace: 'a', name: 'x' }]],
    ['GET', '/api/v1/namespaces', ['list', 'namespaces', {}]],
    ['GET', '/api/v1/namespaces/a', ['get', 'namespaces', { name: 'a' }]],
    ['PATCH', '/api/v1/namespaces/a/status', ['patch', 'namespaces', { name: 'a', subresource: 'status' }]],
    ['GET', '/api/v1/namespaces/a/configmaps/b', ['get', 'configmaps', { namespace: 'a', name: 'b' }]],
    ['GET', '/apis/events.k8s.io/v1/events', ['list', 'events', {}]],
    ['GET', `${TEAMS}/watch/namespaces/a/teams`, ['watch', 'teams', { namespace: 'a' }]],
    ['GET', `${TEAMS}/watch/teams`, ['watch', 'teams', {}]],
    ['GET', '/api/v1/namespaces/a%2Db', ['get', 'namespaces', { name: 'a-b' }]],
  ])('reads %s %s', (method, path, want) => {
    expect(shown(method, path)).toEqual(want);
  });

  it('takes a list for a watch when the query says so, and a path under watch in any case', () => {
    expect(shown('GET', `${TEAMS}/namespaces/a/teams`, true)).toEqual(['watch', 'teams', { namespace: 'a' }]);
    expect(shown('GET', `${TEAMS}/watch/namespaces/a/teams/x`)).toEqual(['watch', 'teams', { namespace: 'a', name: 'x' }]);
    expect(shown('GET', `${TEAMS}/namespaces/a/teams/x`, true)).toEqual(['get', 'teams', { namespace: 'a', name: 'x' }]);
  });

  it('takes a creation on a name for one, where kinds are custom', () => {
    expect(shown('POST', `${TEAMS}/namespaces/a/teams/x`)).toEqual(['create', 'teams', { namespace: 'a', name: 'x' }]);
  });

  it.each([
    ['/apis/agentiso.dev/v1alpha1/teans'],
    ['/apis/agentiso.dev/v2/teams'],
    ['/apis/agentiso.dev/v1alpha1'],
    ['/apis/agentiso.dev/v1alpha1/teams/x'],
    ['/apis/agentiso.dev/v1alpha1/namespaces/a/teams/x/status/more'],
    ['/apis/agentiso.dev/v1alpha1/namespaces//teams'],
    ['/apis/apiextensions.k8s.io/v1/namespaces/a/customresourcedefinitions'],
    ['/api/v1/namespaces/a/namespaces'],
    ['/api/v1/%zz'],
    ['/'],
    [''],
    ['//'],
  ])('knows nothing at GET %s', (path) => {
    expect(shown('GET', path)).toBeUndefined();
  });

  it.each([
    ['POST', '/api/v1/namespaces/a/configmaps/x', 'no such method'],
    ['POST', `${TEAMS}/namespaces/a/teams/x/status`, 'no such method'],
    ['BREW', `${TEAMS}/namespaces/a/teams`, 'no such method'],
    ['OPTIONS', `${TEAMS}/namespaces/a/teams/x`, 'no such method'],
    ['DELETE', `${TEAMS}/namespaces/a/teams/x/status`, 'no such method'],
    ['DELETE', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/x', 'no such method'],
    ['GET', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 'no such method'],
    ['PUT', `${TEAMS}/namespaces/a/teams`, 'name missing'],
    ['PATCH', `${TEAMS}/namespaces/a/teams`, 'name missing'],
    ['GET', `${TEAMS}/namespaces/a/teams/x/scale`, 'no such subresource'],
    ['POST', `${TEAMS}/teams`, undefined],
    ['DELETE', `${TEAMS}/teams`, undefined],
  ])('refuses %s %s: %s', (method, path, want) => {
    expect(shown(method, path)).toBe(want);
  });
});
