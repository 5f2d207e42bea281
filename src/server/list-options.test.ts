import { describe, expect, it } from 'vitest';
import { checkWatchOptions, watchOptions } from './list-options.ts';
import { type Route, routeOf } from './route.ts';

const route = routeOf('GET', '/apis/agentiso.dev/v1alpha1/namespaces/default/merges', true) as Route;
const options = (query: Record<string, string>) => watchOptions(route, new URLSearchParams(query));

describe('watchOptions', () => {
  it.each<[query: Record<string, string>, isAll: boolean | undefined]>([
    [{}, true],
    [{ resourceVersion: '0' }, true],
    [{ resourceVersion: '' }, true],
    [{ resourceVersion: '7' }, undefined],
    [{ sendInitialEvents: 'false', resourceVersionMatch: 'NotOlderThan' }, false],
  ])('%j begins with all there is: %s', (query, isAll) => {
    expect(options(query).sendInitialEvents).toBe(isAll);
    expect(() => checkWatchOptions(options(query))).not.toThrow();
  });

  it('do not go with a token of a list', () => {
    expect(() => checkWatchOptions(options({ continue: 'x' }))).toThrow('resourceVersionMatch is forbidden when continue is provided');
  });
});
