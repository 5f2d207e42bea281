import { describe, expect, test } from 'vitest';
import type { KindObject, ManagedFieldsEntry } from '../meta.ts';
import { API_VERSION, by, owners, SCHEMA, type TeamSpec, team, withManaged } from './fields.fixture.ts';
import { trackUpdate, type Writer } from './track.ts';

function create(spec: TeamSpec, writer = by('a')): KindObject {
  const next = team(spec, { uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', generation: 1, labels: { l: 'x' } });
  return withManaged(next, trackUpdate(SCHEMA, undefined, next, writer));
}

function update(live: KindObject, change: Partial<KindObject>, writer: Writer): KindObject {
  const next = { ...live, ...change };
  return withManaged(next, trackUpdate(SCHEMA, live, next, writer));
}

function carrying(live: KindObject, managedFields: unknown): Partial<KindObject> {
  return { metadata: { ...live.metadata, managedFields: managedFields as ManagedFieldsEntry[] } };
}

describe('tracking a create', () => {
  test('owns what was written, not what the server sets', () => {
    expect(create({ leader: 'x' }).metadata.managedFields).toEqual([
      {
        manager: 'a',
        operation: 'Update',
        apiVersion: API_VERSION,
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } }, 'f:spec': { '.': {}, 'f:leader': {} } },
      },
    ]);
  });

  test('does not own the status, which a create drops', () => {
    const next = { ...team({ leader: 'x' }), status: { phase: 'Ready' } };
    expect(trackUpdate(SCHEMA, undefined, next, by('a'))?.[0]?.fieldsV1).toEqual({ 'f:spec': { '.': {}, 'f:leader': {} } });
  });
});

describe('tracking an update', () => {
  const live = create({ leader: 'x', replicas: 1 });

  test('the writer takes what it changes', () => {
    const next = update(live, { spec: { leader: 'y', replicas: 1 } }, by('b', 1));
    expect(owners(next)).toEqual({
      a: { 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } }, 'f:spec': { '.': {}, 'f:replicas': {} } },
      b: { 'f:spec': { 'f:leader': {} } },
    });
  });

  test('what is removed belongs to nobody', () => {
    const next = update(live, { spec: { leader: 'x' } }, by('b', 1));
    expect(Object.keys(owners(next))).toEqual(['a']);
    expect(owners(next)['a']).toEqual({ 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } }, 'f:spec': { '.': {}, 'f:leader': {} } });
  });

  test('the time moves only when something was gained', () => {
    const gained = update(live, { spec: { leader: 'y', replicas: 1 } }, by('a', 5));
    const removed = update(live, { spec: { leader: 'x' } }, by('a', 5));
    const untouched = update(live, { metadata: { ...live.metadata, generation: 2, resourceVersion: '9' } }, by('a', 5));
    expect([gained, removed, untouched].map(({ metadata }) => metadata.managedFields?.[0]?.time?.slice(17))).toEqual(['05Z', '00Z', '00Z']);
  });

  test('entries that stay the same stay the same objects', () => {
    const next = update(live, { status: { phase: 'Ready' } }, by('c', 1, 'status'));
    expect(next.metadata.managedFields?.[0]).toBe(live.metadata.managedFields?.[0]);
  });

  test('an entry that loses everything goes', () => {
    const bare = team({ leader: 'x' }, { uid: 'u' });
    const owned = withManaged(bare, trackUpdate(SCHEMA, undefined, bare, by('a')));
    const entries = update(owned, { spec: {} }, by('b', 1));
    expect(owners(entries)).toEqual({ a: { 'f:spec': {} } });
    expect(owners(update(entries, { spec: null }, by('b', 1)))).toEqual({ b: { 'f:spec': {} } });
  });

  test('the status belongs to its own entry', () => {
    const next = update(live, { status: { phase: 'Ready' }, spec: { leader: 'not taken' } }, by('c', 1, 'status'));
    expect(next.metadata.managedFields?.[1]).toMatchObject({
      manager: 'c',
      subresource: 'status',
      fieldsV1: { 'f:status': { '.': {}, 'f:phase': {} } },
    });
    expect(owners(next)['a']).toEqual(owners(live)['a']);
  });

  test('the main endpoint does not track the status', () => {
    expect(update(live, { status: { phase: 'Ready' } }, by('c', 1)).metadata.managedFields).toEqual(live.metadata.managedFields);
  });

  test('an object without a record stays without one', () => {
    expect(trackUpdate(SCHEMA, team({ leader: 'x' }), team({ leader: 'y' }), by('a'))).toBeUndefined();
  });

  test('an entry of a version that is no longer served goes', () => {
    const [entry] = live.metadata.managedFields ?? [];
    const old = { ...live, ...carrying(live, [entry, { ...entry, manager: 'old', apiVersion: 'agentiso.dev/v1alpha0' }]) };
    expect(Object.keys(owners(update(old, {}, by('b', 1))))).toEqual(['a']);
  });

  test('items without a name: the write goes on, without a record', () => {
    expect(trackUpdate(SCHEMA, live, { ...live, spec: { members: [{ weight: 1 }] } }, by('b', 1))).toBeUndefined();
  });
});

describe('managedFields in the request', () => {
  const live = create({ leader: 'x', replicas: 1 });
  const rewritten: ManagedFieldsEntry = {
    manager: 'other',
    operation: 'Apply',
    apiVersion: API_VERSION,
    time: '2025-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:leader': {} } },
  };

  test('may be rewritten', () => {
    expect(owners(update(live, carrying(live, [rewritten]), by('b', 1)))).toEqual({ other: { 'f:spec': { 'f:leader': {} } } });
  });

  test.each<[string, unknown]>([
    ['absent', undefined],
    ['null', null],
    ['empty', []],
    ['undecodable', [{ ...rewritten, operation: 'Steal' }]],
    ['undecodable fields', [{ ...rewritten, fieldsV1: { nonsense: {} } }]],
  ])('%s: the stored ones count', (_, given) => {
    expect(owners(update(live, carrying(live, given), by('b', 1)))).toEqual(owners(live));
  });

  test('one entry that says nothing resets them', () => {
    expect(trackUpdate(SCHEMA, live, { ...live, ...carrying(live, [{}]), spec: { leader: 'z' } }, by('b', 1))).toBeUndefined();
  });

  test('on a subresource the stored ones count', () => {
    const next = update(live, { ...carrying(live, [rewritten]), status: { phase: 'R' } }, by('b', 1, 'status'));
    expect(Object.keys(owners(next)).sort()).toEqual(['a', 'b']);
  });
});

describe('too many updaters', () => {
  test('the oldest become ancient-changes', () => {
    let live = create({ env: { K: '0' } }, by('m0'));
    for (let index = 1; index <= 11; index++) {
      live = update(live, { spec: { env: { K: '0', ...envOf(index) } } }, by(`m${index}`, index));
    }
    const entries = live.metadata.managedFields ?? [];
    expect(entries.map(({ manager }) => manager)).toEqual([
      'ancient-changes',
      ...[3, 4, 5, 6, 7, 8, 9, 10, 11].map((index) => `m${index}`),
    ]);
    expect(entries[0]).toMatchObject({ time: '2026-01-01T00:00:02Z', apiVersion: API_VERSION });
    expect(entries[0]?.fieldsV1).toEqual({
      'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } },
      'f:spec': { '.': {}, 'f:env': { '.': {}, 'f:K': {}, 'f:K1': {}, 'f:K2': {} } },
    });
  });

  function envOf(count: number): Record<string, string> {
    return Object.fromEntries(Array.from({ length: count }, (_, index) => [`K${index + 1}`, 'x']));
  }

  test('nothing is lost when ancient-changes itself is among the youngest of the oldest', () => {
    const entries = ['aaa', 'ancient-changes', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((manager, index) => ({
      manager,
      operation: 'Update' as const,
      apiVersion: API_VERSION,
      time: '2026-01-01T00:00:00Z',
      fieldsType: 'FieldsV1' as const,
      fieldsV1: { 'f:spec': { 'f:env': { [`f:K${index}`]: {} } } },
    }));
    const live = withManaged(team({ leader: 'x' }, { uid: 'u' }), entries);
    const next = update(live, { spec: { leader: 'y' } }, by('z', 1));
    expect(next.metadata.managedFields).toHaveLength(10);
    expect(owners(next)['ancient-changes']).toEqual({ 'f:spec': { 'f:env': { 'f:K0': {}, 'f:K1': {} } } });
  });
});

test('ownership of pieces follows a schema that makes them one', () => {
  const live = create({ budget: { agents: 1 }, members: [{ name: 'p' }] });
  const spec = SCHEMA.properties?.['spec'];
  const schema = {
    ...SCHEMA,
    properties: {
      ...SCHEMA.properties,
      spec: {
        ...spec,
        properties: {
          ...spec?.properties,
          budget: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { agents: { type: 'integer' } } },
          members: { type: 'array', items: { type: 'object' } },
        },
      },
    },
  } as const;
  const entries = trackUpdate(
    schema,
    live,
    { ...live, spec: { budget: { agents: 1 }, members: [{ name: 'p' }], leader: 'x' } },
    by('b', 1),
  );
  expect(entries?.[0]?.fieldsV1).toEqual({
    'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } },
    'f:spec': { '.': {}, 'f:budget': {}, 'f:members': {} },
  });
});
