import { describe, expect, it } from 'vitest';
import { crds } from '#api/generated/schemas.ts';
import { customResourceDefinitions } from './crd.ts';

const since = new Date('2026-02-03T04:05:06.789Z');

describe('customResourceDefinitions', () => {
  it('shows every definition, sorted by name', () => {
    const names = customResourceDefinitions(since).map(({ metadata }) => metadata.name);
    expect(names).toEqual(crds.map(({ metadata }) => metadata.name).sort());
  });

  it('gives a definition the same distinct uid at any time', () => {
    const uids = customResourceDefinitions(since).map(({ metadata }) => metadata.uid);
    expect(customResourceDefinitions(new Date(0)).map(({ metadata }) => metadata.uid)).toEqual(uids);
    expect(new Set(uids).size).toBe(crds.length);
    for (const uid of uids) expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('adds what a server adds and keeps the rest', () => {
    const team = customResourceDefinitions(since).find(({ metadata }) => metadata.name === 'teams.agentiso.dev');
    const written = crds.find(({ metadata }) => metadata.name === 'teams.agentiso.dev');
    expect(team).toMatchObject({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { resourceVersion: '1', generation: 1, creationTimestamp: '2026-02-03T04:05:06Z' },
      status: {
        acceptedNames: { kind: 'Team', plural: 'teams', singular: 'team', listKind: 'TeamList' },
        storedVersions: ['v1alpha1'],
        conditions: [
          { type: 'NamesAccepted', status: 'True', lastTransitionTime: '2026-02-03T04:05:06Z' },
          { type: 'Established', status: 'True', lastTransitionTime: '2026-02-03T04:05:06Z' },
        ],
      },
    });
    expect(team?.spec).toEqual({ ...written?.spec, conversion: { strategy: 'None' } });
  });
});
