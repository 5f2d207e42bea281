import { describe, expect, it } from 'vitest';
import { formatKey, type KindObject } from '#api/meta.ts';
import type { Applied } from './applied.ts';
import type { Declaration, DirectoryRead } from './directory-reader.ts';
import { MISSING_MS, planChanges, type Situation } from './plan.ts';

const NOW = 1_000_000;

function declaration(name: string, file: string, fieldManager = 'dir:a'): Declaration {
  const key = { kind: 'Task', namespace: 'default', name };
  const config = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Task', metadata: { name, namespace: 'default' } };
  return { id: formatKey(key), key, config, line: 2, file, fieldManager, explain: String };
}

function read(declarations: readonly Declaration[], more: Partial<DirectoryRead> = {}, fieldManager = 'dir:a'): DirectoryRead {
  return {
    directory: { path: `/${fieldManager}`, fieldManager },
    declarations,
    mentioned: new Set(declarations.map(({ id }) => id)),
    problems: [],
    canPrune: true,
    lookAgainMs: Number.POSITIVE_INFINITY,
    ...more,
  };
}

function object(name: string, managers: readonly string[] = ['dir:a'], metadata: Partial<KindObject['metadata']> = {}): KindObject {
  const managedFields = managers.map((manager) => ({
    manager,
    operation: 'Apply' as const,
    apiVersion: 'agentiso.dev/v1alpha1',
    fieldsType: 'FieldsV1' as const,
    fieldsV1: {},
  }));
  return {
    apiVersion: 'agentiso.dev/v1alpha1',
    kind: 'Task',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion: '7',
      generation: 1,
      creationTimestamp: '',
      managedFields,
      ...metadata,
    },
  };
}

function applied(from: Declaration, more: Partial<Applied> = {}): [string, Applied] {
  const { id, config, fieldManager, file, key } = from;
  return [id, { config, fieldManager, file, atMs: NOW - 60_000, object: object(key.name, [fieldManager]), ...more }];
}

function plan(
  situation: Partial<Omit<Situation, 'live' | 'missingSinceMs'>> & { live?: readonly KindObject[]; missing?: readonly string[] },
) {
  const { live = [], missing = [], ...rest } = situation;
  const made = planChanges({
    reads: [],
    applied: new Map(),
    closing: new Set<string>(),
    nowMs: NOW,
    ...rest,
    live: new Map(live.map((one) => [`Task default/${one.metadata.name}`, one])),
    missingSinceMs: new Map(missing.map((name) => [`Task default/${name}`, NOW - MISSING_MS])),
  });
  return {
    apply: made.apply.map(({ file, key }) => `${key.name} from ${file}`),
    prune: made.prune.map((one) => one.object.metadata.name),
    release: made.release.map((one) => `${one.object.metadata.name} by ${one.fieldManager}`),
    problems: made.problems.map(({ reason, message }) => `${reason} ${message}`),
    missing: [...made.missingSinceMs.keys()],
    lookAgainMs: made.lookAgainMs,
  };
}

const NOTHING = { apply: [], prune: [], release: [], problems: [], missing: [], lookAgainMs: Number.POSITIVE_INFINITY };
const x = declaration('x', '/a/x.yaml');

describe('what to do about a declared object', () => {
  it('applies one that does not exist', () => {
    expect(plan({ reads: [read([x])] })).toEqual({ ...NOTHING, apply: ['x from /a/x.yaml'] });
  });

  it('applies one that this process has not applied yet', () => {
    expect(plan({ reads: [read([x])], live: [object('x')] }).apply).toEqual(['x from /a/x.yaml']);
  });

  it('leaves one alone that stands as it was applied', () => {
    expect(plan({ reads: [read([x])], live: [object('x')], applied: new Map([applied(x)]) })).toEqual(NOTHING);
  });

  const drifts: [string, KindObject][] = [
    ['its spec was changed', object('x', ['dir:a'], { generation: 2, resourceVersion: '8' })],
    ['it was deleted and made again', object('x', ['dir:a'], { uid: 'other' })],
    ['the record of who applied it is gone', object('x', [], { resourceVersion: '8' })],
  ];
  it.each(drifts)('applies it again when %s', (_, live) => {
    expect(plan({ reads: [read([x])], live: [live], applied: new Map([applied(x)]) }).apply).toEqual(['x from /a/x.yaml']);
  });

  it('applies it again when a label that it declares was changed, and not when another one was', () => {
    const labelled = { ...x, config: { ...x.config, metadata: { ...x.config.metadata, name: 'x', labels: { team: 'crew' } } } };
    const record = new Map([applied(labelled)]);
    const situation = { reads: [read([labelled])], applied: record };
    expect(plan({ ...situation, live: [object('x', ['dir:a'], { labels: { team: 'other' }, resourceVersion: '8' })] }).apply).toHaveLength(
      1,
    );
    expect(
      plan({ ...situation, live: [object('x', ['dir:a'], { labels: { team: 'crew', more: 'x' }, resourceVersion: '8' })] }).apply,
    ).toEqual([]);
  });

  it('puts a change right once a second, not faster', () => {
    const live = [object('x', ['dir:a'], { generation: 2, resourceVersion: '8' })];
    const situation = { reads: [read([x])], live, applied: new Map([applied(x, { atMs: NOW - 400 })]) };
    expect(plan(situation)).toEqual({ ...NOTHING, lookAgainMs: 600 });
  });

  it('waits for the end of one that is being deleted', () => {
    expect(plan({ reads: [read([x])], live: [object('x', ['dir:a'], { deletionTimestamp: 'now' })] })).toEqual(NOTHING);
  });

  it('waits for the end of its namespace when that is being deleted', () => {
    expect(plan({ reads: [read([x])], closing: new Set(['default']) })).toEqual({ ...NOTHING, lookAgainMs: 500 });
  });

  it('does not try a refused one again until time passed, the manifest changed or the object did', () => {
    const problem = { reason: 'InvalidManifest' as const, message: 'no', about: x.key };
    const failure = { problem, against: 'uid-x 1', retryMs: 30_000 };
    const { object: _none, ...record } = applied(x, { failure, atMs: NOW - 10_000 })[1];
    const situation = { reads: [read([x])], live: [object('x')], applied: new Map([[x.id, record]]) };
    expect(plan(situation)).toEqual({ ...NOTHING, lookAgainMs: 20_000 });
    expect(plan({ ...situation, nowMs: NOW + 20_000 }).apply).toHaveLength(1);
    expect(plan({ ...situation, reads: [read([{ ...x, config: { ...x.config } }])] }).apply).toHaveLength(1);
    expect(plan({ ...situation, live: [object('x', ['dir:a'], { generation: 2, resourceVersion: '8' })] }).apply).toHaveLength(1);
  });
});

describe('what to do about an object that is no longer declared', () => {
  it('is remembered at the first look and pruned at a later one', () => {
    expect(plan({ reads: [read([])], live: [object('x')] })).toEqual({ ...NOTHING, missing: ['Task default/x'], lookAgainMs: MISSING_MS });
    expect(plan({ reads: [read([])], live: [object('x')], missing: ['x'] })).toEqual({ ...NOTHING, prune: ['x'] });
  });

  const kept: [string, DirectoryRead[], KindObject][] = [
    ['nobody knows whether the directory still has it', [read([], { canPrune: false })], object('x')],
    ['a file that is not valid speaks of it', [read([], { mentioned: new Set([x.id]) })], object('x')],
    [
      'a file of another directory that is not valid speaks of it',
      [read([]), read([], { mentioned: new Set([x.id]) }, 'dir:b')],
      object('x'),
    ],
    ['it is being deleted already', [read([])], object('x', ['dir:a'], { deletionTimestamp: 'now' })],
    ['no directory has applied it', [read([])], object('x', ['kubectl'])],
  ];
  it.each(kept)('stays when %s', (_, reads, live) => {
    expect(plan({ reads, live: [live], missing: ['x'] })).toEqual(NOTHING);
  });
});

describe('an object in two places', () => {
  const again = declaration('x', '/a/y.yaml');
  const elsewhere = declaration('x', '/b/x.yaml', 'dir:b');

  it('is taken from the first by path, and the other is complained about', () => {
    const { apply, problems } = plan({ reads: [read([x, again])] });
    expect(apply).toEqual(['x from /a/x.yaml']);
    expect(problems).toEqual([
      'DuplicateResource /a/y.yaml:2: Task default/x is already declared at /a/x.yaml:2, which stays in force; keep one of them',
    ]);
  });

  it('stays with the file that was applied before, whatever the order', () => {
    const made = plan({ reads: [read([x, again])], live: [object('x')], applied: new Map([applied(again)]) });
    expect(made.apply).toEqual([]);
    expect(made.problems[0]).toContain('/a/x.yaml:2: Task default/x is already declared at /a/y.yaml:2');
  });

  it('stays with the directory that the object names, after a restart', () => {
    const reads = [read([x]), read([elsewhere], {}, 'dir:b')];
    expect(plan({ reads, live: [object('x', ['dir:b'])] }).apply).toEqual(['x from /b/x.yaml']);
  });

  it('is applied by the second directory as soon as the first lets go, and is never pruned', () => {
    const reads = [read([]), read([elsewhere], {}, 'dir:b')];
    const moving = plan({ reads, live: [object('x')], applied: new Map([applied(x)]), missing: ['x'] });
    expect(moving).toEqual({ ...NOTHING, apply: ['x from /b/x.yaml'], lookAgainMs: MISSING_MS });
    const moved = plan({ reads, live: [object('x', ['dir:a', 'dir:b'])], applied: new Map([applied(elsewhere)]), missing: ['x'] });
    expect(moved).toEqual({ ...NOTHING, release: ['x by dir:a'] });
  });

  it('is given up by a directory that is no longer followed, and not by a person', () => {
    const live = [object('x', ['dir:a', 'dir:gone', 'kubectl'])];
    expect(plan({ reads: [read([x])], live, applied: new Map([applied(x)]) })).toEqual({ ...NOTHING, release: ['x by dir:gone'] });
  });

  it('is not given up by a directory that cannot be read', () => {
    const reads = [read([], { canPrune: false }), read([elsewhere], {}, 'dir:b')];
    expect(plan({ reads, live: [object('x', ['dir:a', 'dir:b'])], applied: new Map([applied(elsewhere)]) })).toEqual(NOTHING);
  });
});
