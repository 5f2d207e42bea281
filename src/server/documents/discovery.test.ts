import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { resources } from '../resources.ts';
import { aggregatedCore, aggregatedGroups, legacyCore, legacyGroup, legacyGroups, resourceList } from './discovery.ts';
import { groupNames, groupVersions } from './groups.ts';

const golden = (value: unknown, name: string) =>
  expect(stringify(value, { aliasDuplicateObjects: false })).toMatchFileSnapshot(`golden/${name}.txt`);

describe('the order of groups', () => {
  it('puts the core group first and our own last, as a Kubernetes server does', () => {
    expect(groupVersions.map(({ name }) => name)).toEqual([
      'v1',
      'events.k8s.io/v1',
      'authentication.k8s.io/v1',
      'authorization.k8s.io/v1',
      'apiextensions.k8s.io/v1',
      'coordination.k8s.io/v1',
      'metrics.k8s.io/v1beta1',
      'agentiso.dev/v1alpha1',
    ]);
  });
});

describe('aggregated discovery', () => {
  it('is as recorded', async () => {
    await golden(aggregatedCore('v2'), 'aggregated-core');
    await golden(aggregatedGroups('v2'), 'aggregated-groups');
  });

  it('differs between its versions in nothing but the version', () => {
    expect(aggregatedGroups('v2beta1')).toEqual({ ...aggregatedGroups('v2'), apiVersion: 'apidiscovery.k8s.io/v2beta1' });
  });

  it('lists every resource and subresource once', () => {
    const items = [...aggregatedCore('v2').items, ...aggregatedGroups('v2').items];
    const listed = items.flatMap(({ versions }) =>
      versions.flatMap(({ resources: found }) =>
        found.flatMap(({ resource, responseKind: { group }, subresources = [] }) => [
          `${resource}.${group}`,
          ...subresources.map(({ subresource }) => `${resource}/${subresource}.${group}`),
        ]),
      ),
    );
    const served = resources.flatMap(({ plural, group, subresources }) => [
      `${plural}.${group}`,
      ...subresources.map(({ name }) => `${plural}/${name}.${group}`),
    ]);
    expect(listed.sort()).toEqual(served.sort());
    expect(new Set(listed).size).toBe(listed.length);
  });

  it('gives no name to the core group', () => {
    expect(aggregatedCore('v2').items.map(({ metadata }) => metadata)).toEqual([{}]);
  });
});

describe('legacy discovery', () => {
  it('is as recorded', async () => {
    await golden(
      {
        core: legacyCore('127.0.0.1:8080'),
        groups: legacyGroups(),
        group: legacyGroup('agentiso.dev'),
        resources: groupVersions.map(({ name }) => resourceList(name)),
      },
      'legacy',
    );
  });

  it('has the same groups in the list and one by one', () => {
    expect(groupNames.map(legacyGroup)).toEqual(legacyGroups().groups.map((group) => ({ kind: 'APIGroup', apiVersion: 'v1', ...group })));
  });
});
