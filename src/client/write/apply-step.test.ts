import { describe, expect, it } from 'vitest';
import type { ApiResource } from '../discovery.ts';
import type { ApiObject } from '../resource-api.ts';
import { segmentsOf } from './apply-set.ts';
import { clientSideStep, configOf, outcomeOf } from './apply-step.ts';
import { withLastApplied } from './last-applied.ts';
import { warningsIn } from './requests.ts';

const resource: ApiResource = {
  group: 'agentiso.dev',
  version: 'v1alpha1',
  plural: 'teams',
  kind: 'Team',
  singular: 'team',
  shortNames: [],
  categories: [],
  verbs: [],
  subresources: ['status'],
  isNamespaced: true,
  isPreferred: true,
};
const document = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', metadata: { name: 'x' }, spec: { suspend: true } };
const target = { resource, namespace: 'ns', name: 'x' };
const config = configOf(document, target);
const stored = (object: object): ApiObject => {
  const { metadata, ...rest } = object as ApiObject;
  return { ...rest, metadata: { ...metadata, uid: 'u', resourceVersion: '7' } };
};

describe('configOf', () => {
  it('puts the document into its namespace and leaves status to the server', () => {
    expect(configOf({ ...document, status: { phase: 'Ready' } }, target)).toEqual({
      ...document,
      metadata: { name: 'x', namespace: 'ns' },
    });
  });

  it('keeps a status that is no part of its own, and names no namespace where there is none', () => {
    const without = { ...target, namespace: undefined, resource: { ...resource, subresources: [] } };
    expect(configOf({ ...document, status: 1 }, without)).toEqual({ ...document, status: 1 });
  });
});

describe('clientSideStep', () => {
  it('creates what is not there, with the note of itself', () => {
    expect(clientSideStep(config, undefined)).toEqual({ action: 'create', body: withLastApplied(config) });
  });

  it('has nothing to do when the server has all of it, and more', () => {
    const live = stored({ ...withLastApplied(config), spec: { suspend: true, defaulted: 1 }, status: { phase: 'Ready' } });
    expect(clientSideStep(config, live)).toEqual({ action: 'none', live });
  });

  it('removes no annotations when it leaves the note out', () => {
    const live = stored({ ...withLastApplied(config), spec: { suspend: false } });
    expect(clientSideStep(config, live, false)).toEqual({ action: 'patch', patch: { spec: { suspend: true } }, live });
  });

  it('patches what differs and notes the new configuration', () => {
    const live = stored(withLastApplied({ ...config, spec: { suspend: false, description: 'old' } }));
    expect(clientSideStep(config, live)).toMatchObject({
      action: 'patch',
      patch: { spec: { suspend: true, description: null }, metadata: { annotations: expect.anything() } },
    });
  });
});

describe('outcomeOf', () => {
  it('believes what came of it more than what was sent', () => {
    const live = stored(config);
    const step = { action: 'patch', patch: { spec: {} }, live } as const;
    const recorded = { ...live, metadata: { ...live.metadata, managedFields: [], resourceVersion: '8' } };
    const changed = { ...live, spec: { suspend: false } };
    expect([recorded, changed, undefined].map((after) => outcomeOf(step, after))).toEqual(['unchanged', 'configured', 'configured']);
  });
});

it.each([
  { field: 'spec.roles[0].count', want: ['spec', 'roles', 0, 'count'] },
  { field: 'metadata.annotations[a.b/c]', want: ['metadata', 'annotations', 'a.b/c'] },
  { field: '', want: [] },
])('segmentsOf $field', ({ field, want }) => {
  expect(segmentsOf(field)).toEqual(want);
});

it.each([
  { header: undefined, want: [] },
  { header: '299 - "unknown field \\"spec.x\\""', want: ['unknown field "spec.x"'] },
  { header: '299 - "a, b", 299 - "c"', want: ['a, b', 'c'] },
  { header: ['299 - "a"', '299 - "b"'], want: ['a', 'b'] },
])('warningsIn $header', ({ header, want }) => {
  expect(warningsIn(header)).toEqual(want);
});
