import { describe, expect, test } from 'vitest';
import type { KindObject } from '../meta.ts';
import { applyConfig } from './apply.ts';
import { FieldConflictError } from './conflict.ts';
import { API_VERSION, by, owners, SCHEMA, type TeamSpec, team, withManaged } from './fields.fixture.ts';
import { isSameApplied } from './same-applied.fixture.ts';
import { trackUpdate, type Writer } from './track.ts';
import { TypedPatchError } from './typed-error.ts';

interface Options {
  readonly writer?: Writer;
  readonly force?: boolean;
}

function apply(live: KindObject | undefined, config: KindObject | TeamSpec, options: Options & { manager?: string } = {}): KindObject {
  const { manager = 'a', writer = by(manager, 1), force = false } = options;
  return applyConfig({ schema: SCHEMA, live, config: isTeam(config) ? config : team(config), writer, force });
}

function isTeam(config: KindObject | TeamSpec): config is KindObject {
  return 'kind' in config;
}

function update(live: KindObject, change: Partial<KindObject>, writer: Writer): KindObject {
  const next = { ...live, ...change };
  return withManaged(next, trackUpdate(SCHEMA, live, next, writer));
}

/** The message of a conflict. */
function conflictOf(work: () => unknown): FieldConflictError {
  try {
    work();
  } catch (error) {
    if (error instanceof FieldConflictError) return error;
    throw error;
  }
  throw new Error('there was no conflict');
}

describe('applying', () => {
  test('creates, and owns exactly what the configuration says', () => {
    const made = apply(undefined, { leader: 'x', members: [{ name: 'p' }], env: {} });
    expect(made).toEqual({
      ...team({ leader: 'x', members: [{ name: 'p' }], env: {} }),
      metadata: {
        name: 't',
        namespace: 'ns',
        managedFields: [
          {
            manager: 'a',
            operation: 'Apply',
            apiVersion: API_VERSION,
            time: '2026-01-01T00:00:01Z',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:spec': { 'f:env': {}, 'f:leader': {}, 'f:members': { 'k:{"name":"p"}': { '.': {}, 'f:name': {} } } } },
          },
        ],
      },
    });
  });

  test('a field that is dropped is removed', () => {
    const live = apply(undefined, { leader: 'x', replicas: 1 });
    expect(apply(live, { leader: 'x' }).spec).toEqual({ leader: 'x' });
  });

  test('unless another manager owns it', () => {
    const live = apply(apply(undefined, { leader: 'x', replicas: 1 }), { replicas: 1 }, { manager: 'b' });
    const next = apply(live, { leader: 'x' });
    expect(next.spec).toEqual({ leader: 'x', replicas: 1 });
    expect(owners(next)).toEqual({ a: { 'f:spec': { 'f:leader': {} } }, b: { 'f:spec': { 'f:replicas': {} } } });
  });

  test('equal values are owned together, without a conflict', () => {
    const live = apply(apply(undefined, { leader: 'x' }), { leader: 'x' }, { manager: 'b' });
    expect(owners(live)).toEqual({ a: { 'f:spec': { 'f:leader': {} } }, b: { 'f:spec': { 'f:leader': {} } } });
    expect(conflictOf(() => apply(live, { leader: 'y' })).message).toBe('Apply failed with 1 conflict: conflict with "b": .spec.leader');
  });

  test('force takes the field away from the others', () => {
    const live = apply(undefined, { leader: 'x', replicas: 1 });
    const next = apply(live, { leader: 'y' }, { manager: 'b', force: true });
    expect(next.spec).toEqual({ leader: 'y', replicas: 1 });
    expect(owners(next)).toEqual({ a: { 'f:spec': { 'f:replicas': {} } }, b: { 'f:spec': { 'f:leader': {} } } });
  });

  test('who owns nothing any more leaves the record', () => {
    const next = apply(apply(undefined, { leader: 'x' }), { leader: 'y' }, { manager: 'b', force: true });
    expect(Object.keys(owners(next))).toEqual(['b']);
    expect(apply(apply(undefined, { leader: 'x' }), {}).metadata.managedFields).toMatchObject([{ fieldsV1: { 'f:spec': {} } }]);
    expect(apply(apply(undefined, { leader: 'x' }), team()).metadata.managedFields).toBeUndefined();
  });

  test('an updater that owns only a sub-field does not keep the item alive', () => {
    const live = apply(undefined, { members: [{ name: 'p' }, { name: 'q' }] });
    const edited = update(live, { spec: { members: [{ name: 'p', weight: 3 }, { name: 'q' }] } }, by('u', 2));
    expect(apply(edited, { members: [{ name: 'q' }] }).spec).toEqual({ members: [{ name: 'q' }] });
  });

  test('disjoint items coexist, and the order of the applier wins for its own', () => {
    const live = apply(apply(undefined, { members: [{ name: 'p' }, { name: 'q' }] }), { members: [{ name: 'r' }] }, { manager: 'b' });
    expect(live.spec).toEqual({ members: [{ name: 'p' }, { name: 'q' }, { name: 'r' }] });
    expect(apply(live, { members: [{ name: 'q' }, { name: 'p' }] }).spec).toEqual({
      members: [{ name: 'q' }, { name: 'r' }, { name: 'p' }],
    });
  });

  test('a map that is emptied becomes null, for defaulting to clean up', () => {
    const live = apply(undefined, { leader: 'x', budget: { agents: 1 } });
    const half = update(live, { spec: { leader: 'x', budget: { agents: 1, cost: 2 } } }, by('u', 2));
    expect(apply(half, { leader: 'x' }).spec).toEqual({ leader: 'x', budget: { cost: 2 } });
    expect(apply(live, { leader: 'x' }).spec).toEqual({ leader: 'x' });
  });

  test('an item of which pruning leaves nothing is no obstacle', () => {
    const keyed = {
      type: 'object',
      properties: {
        k: { type: 'string', default: 'x' },
        tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      },
    } as const;
    const schema = {
      ...SCHEMA,
      properties: {
        ...SCHEMA.properties,
        spec: {
          type: 'object',
          properties: { list: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'], items: keyed } },
        },
      },
    } as const;
    const live = applyConfig({
      schema,
      live: undefined,
      config: team({ list: [{ k: 'z' }, { tags: ['a'] }] }),
      writer: by('a'),
      force: false,
    });
    const next = applyConfig({ schema, live, config: team({ list: [{ k: 'z' }, {}] }), writer: by('a'), force: false });
    expect(next.spec).toEqual({ list: [{ k: 'z' }] });
    const alone = applyConfig({ schema, live: undefined, config: team({ list: [{ tags: ['a'] }] }), writer: by('a'), force: false });
    expect(applyConfig({ schema, live: alone, config: team({ list: [{}] }), writer: by('a'), force: false }).spec).toEqual({ list: null });
  });

  test('keys with a default and without it are the same item', () => {
    const live = apply(undefined, { ports: [{ port: 80, protocol: 'TCP', note: 'n' }] });
    expect(apply(live, { ports: [{ port: 80 }] }, { manager: 'b' }).spec).toEqual(live.spec);
    expect(apply(live, { ports: [{ port: 80 }] }).spec).toEqual({ ports: [{ port: 80 }] });
  });

  test('nothing is changed in place', () => {
    const live = apply(undefined, { leader: 'x', members: [{ name: 'p', tags: ['a'] }], env: { A: '1' } });
    const before = JSON.stringify(live);
    apply(live, { members: [{ name: 'p', tags: ['b'] }] }, { manager: 'b', force: true });
    apply(live, { leader: 'y' });
    expect(JSON.stringify(live)).toBe(before);
  });

  test('the resourceVersion of the configuration is not merged', () => {
    const live = { ...apply(undefined, { leader: 'x' }) };
    live.metadata = { ...live.metadata, resourceVersion: '7' };
    expect(apply(live, team({ leader: 'x' }, { resourceVersion: '6' })).metadata.resourceVersion).toBe('7');
  });
});

describe('applying the same again', () => {
  test('keeps the time, and is the same', () => {
    const live = apply(undefined, { leader: 'x', members: [{ name: 'p' }] });
    const again = apply(live, { leader: 'x', members: [{ name: 'p' }] }, { writer: by('a', 9) });
    expect(again).toEqual(live);
    expect(isSameApplied(live, again)).toBe(true);
  });

  test('who comes to own or gives up part of what is there already keeps the time it had, or has none', () => {
    const live = apply(undefined, { leader: 'x', replicas: 1 });
    const shared = apply(live, { leader: 'x' }, { writer: by('b', 2) });
    const more = apply(shared, { leader: 'x', replicas: 1 }, { writer: by('b', 3) });
    const less = apply(more, { leader: 'x' }, { writer: by('a', 4) });
    const changed = apply(less, { leader: 'x', replicas: 1, paused: true }, { writer: by('b', 5) });
    const timesOf = ({ metadata }: KindObject) =>
      Object.fromEntries((metadata.managedFields ?? []).map(({ manager, time }) => [manager, time]));
    const first = '2026-01-01T00:00:01Z';
    expect([shared, more, less].map(timesOf)).toEqual(Array(3).fill({ a: first, b: undefined }));
    expect(shared.metadata.managedFields?.every((entry) => !('time' in entry) || entry.time !== undefined)).toBe(true);
    expect(timesOf(changed)).toEqual({ a: first, b: '2026-01-01T00:00:05Z' });
  });

  test('a new owner of the same value is a change', () => {
    const live = apply(undefined, { leader: 'x' });
    expect(isSameApplied(live, apply(live, { leader: 'x' }, { manager: 'b' }))).toBe(false);
  });

  test('times alone are no change, even if they change the order', () => {
    const live = apply(apply(undefined, { leader: 'x' }, { writer: by('a', 1) }), { replicas: 1 }, { writer: by('b', 2) });
    const [first, second] = live.metadata.managedFields ?? [];
    if (first === undefined || second === undefined) throw new Error('two entries');
    const reordered = withManaged(live, [second, { ...first, time: '2027-01-01T00:00:00Z' }]);
    expect(isSameApplied(live, reordered)).toBe(true);
    expect(isSameApplied(live, { ...reordered, spec: { leader: 'y', replicas: 1 } })).toBe(false);
  });
});

describe('the first apply', () => {
  test('gives all there was to before-first-apply', () => {
    const live = { ...team({ leader: 'x', replicas: 1 }, { uid: 'u', labels: { l: 'x' } }), status: { phase: 'R' } };
    const next = apply(live, { leader: 'x' });
    expect(owners(next)).toEqual({
      a: { 'f:spec': { 'f:leader': {} } },
      'before-first-apply': {
        'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } },
        'f:spec': { '.': {}, 'f:leader': {}, 'f:replicas': {} },
      },
    });
    expect(conflictOf(() => apply(live, { leader: 'y' })).message).toBe(
      `Apply failed with 1 conflict: conflict with "before-first-apply" using ${API_VERSION}: .spec.leader`,
    );
  });
});

describe('the status endpoint', () => {
  const live = apply(undefined, { leader: 'x' });

  test('owns the status only', () => {
    const config = { ...team({ leader: 'ignored' }, { labels: { l: 'x' } }), status: { phase: 'R' } };
    const next = apply(live, config, { writer: by('s', 2, 'status') });
    expect(next.status).toEqual({ phase: 'R' });
    expect(next.metadata.managedFields?.[1]).toMatchObject({
      manager: 's',
      subresource: 'status',
      fieldsV1: { 'f:status': { 'f:phase': {} } },
    });
    expect(owners(next)['a']).toEqual({ 'f:spec': { 'f:leader': {} } });
  });

  test('the main endpoint does not own it', () => {
    expect(owners(apply(undefined, { ...team({ leader: 'x' }), status: { phase: 'R' } }))).toEqual({ a: { 'f:spec': { 'f:leader': {} } } });
  });

  test('conflicts name it', () => {
    const one = apply(live, { ...team(), status: { phase: 'R' } }, { writer: by('s', 2, 'status') });
    const two = update(one, { status: { phase: 'R', conditions: [{ type: 'Ready', status: 'True' }] } }, by('u', 3, 'status'));
    const config = { ...team(), status: { phase: 'S', conditions: [{ type: 'Ready', status: 'False' }] } };
    expect(conflictOf(() => apply(two, config, { writer: by('x', 4, 'status') })).message).toBe(
      [
        'Apply failed with 2 conflicts: conflicts with "s" with subresource "status":',
        '- .status.phase',
        `conflicts with "u" with subresource "status" using ${API_VERSION}:`,
        '- .status.conditions[type="Ready"].status',
      ].join('\n'),
    );
  });
});

describe('conflicts', () => {
  const live = update(
    apply(undefined, { leader: 'x', replicas: 1, skills: ['sh'] }),
    { spec: { leader: 'x', replicas: 2, skills: ['sh'] } },
    by('kubectl-edit', 2),
  );

  test('one with an updater', () => {
    const error = conflictOf(() => apply(live, { replicas: 3 }, { manager: 'b' }));
    expect(error.message).toBe(`Apply failed with 1 conflict: conflict with "kubectl-edit" using ${API_VERSION}: .spec.replicas`);
    expect(error.causes).toEqual([{ message: `conflict with "kubectl-edit" using ${API_VERSION}`, field: '.spec.replicas' }]);
    expect(error.code).toBe('Conflict');
  });

  test('several, by manager', () => {
    const error = conflictOf(() => apply(live, { replicas: 3, leader: 'y' }, { manager: 'b' }));
    expect(error.message).toBe(
      `Apply failed with 2 conflicts: conflicts with "a":\n- .spec.leader\nconflicts with "kubectl-edit" using ${API_VERSION}:\n- .spec.replicas`,
    );
    expect(error.causes).toHaveLength(2);
  });

  test('the same value is none', () => {
    expect(apply(live, { replicas: 2 }, { manager: 'b' }).spec).toEqual(live.spec);
  });
});

describe('what does not fit the schema', () => {
  function typedError(work: () => unknown): string {
    try {
      work();
    } catch (error) {
      if (error instanceof TypedPatchError) return error.message;
      throw error;
    }
    return 'no error';
  }

  test.each<[TeamSpec, string]>([
    [{ x: 1 }, `failed to create typed patch object (ns/t; ${API_VERSION}, Kind=Team): .spec.x: field not declared in schema`],
    [
      { x: 1, budget: { y: 1 } },
      `failed to create typed patch object (ns/t; ${API_VERSION}, Kind=Team): errors:\n  .spec.budget.y: field not declared in schema\n  .spec.x: field not declared in schema`,
    ],
    [
      { skills: ['a', 'a'] },
      `failed to create typed patch object (ns/t; ${API_VERSION}, Kind=Team): .spec.skills: duplicate entries for key [="a"]`,
    ],
  ])('%j is refused, forced or not', (spec, message) => {
    expect(typedError(() => apply(undefined, spec))).toBe(message);
    expect(typedError(() => apply(undefined, spec, { force: true }))).toBe(message);
  });

  test('unknown metadata is refused too', () => {
    const config: KindObject = JSON.parse('{"apiVersion":"v1","kind":"Team","metadata":{"name":"t","x":1}}');
    expect(typedError(() => apply(undefined, config))).toBe(
      'failed to create typed patch object (/t; /v1, Kind=Team): .metadata.x: field not declared in schema',
    );
  });

  test('so is a stored object that the schema no longer allows', () => {
    expect(typedError(() => apply(team({ gone: 1 }), { leader: 'x' }))).toBe(
      `failed to create typed live object (ns/t; ${API_VERSION}, Kind=Team): .spec.gone: field not declared in schema`,
    );
  });

  test('a stored object may have duplicates', () => {
    expect(apply(team({ skills: ['a', 'a'] }), { skills: ['b'] }).spec).toEqual({ skills: ['a', 'a', 'b'] });
  });
});
