/** Every rule of the five CRDs, with a document that keeps it and one that breaks it. */
import { describe, expect, it } from 'vitest';
import type { FieldProblem } from '#lib/errors.ts';
import { formatPath, type JsonObject } from '#lib/json.ts';
import { compileRules, runRules } from './cel.ts';
import { crds } from './generated/schemas.ts';
import { kinds } from './kinds.ts';
import type { KindObject } from './meta.ts';
import type { Schema } from './schema.ts';

interface RuleCase {
  readonly kind: string;
  /** The start of the message, which tells the rules of one kind apart. */
  readonly rule: string;
  readonly field: string;
  /** A name or a spec; the rest is filled in. */
  readonly good: JsonObject;
  readonly bad: JsonObject;
  /** What is stored before, for rules about changes. */
  readonly old?: JsonObject;
  readonly name?: string;
}

const LONG = 'x'.repeat(31);
const ROLE = { name: 'worker' };
const TASK = { name: 'first', command: 'true' };
const MERGE = { team: 'a', sources: [{ agent: 'one' }], target: { branch: 'main' } };
const FIXED_PORT = [{ guestPort: 80, hostPort: 8080 }];

const cases: readonly RuleCase[] = [
  {
    kind: 'Team',
    rule: 'an agent would get a name over 63 characters',
    field: 'spec.roles',
    name: LONG,
    good: { roles: [{ name: LONG }] },
    bad: { roles: [ROLE, { name: LONG, count: 2 }] },
  },
  {
    kind: 'Team',
    rule: 'a Task would get a name over 63 characters',
    field: 'spec.tasks',
    name: LONG,
    good: { roles: [ROLE], tasks: [{ ...TASK, name: LONG }] },
    bad: { roles: [ROLE], tasks: [{ ...TASK, name: `${LONG}x` }] },
  },
  {
    kind: 'Team',
    rule: 'a Team cannot be its own parent',
    field: 'spec.parent',
    good: { roles: [ROLE], parent: 'b' },
    bad: { roles: [ROLE], parent: 'a' },
  },
  {
    kind: 'Team',
    rule: 'parent cannot change after creation',
    field: 'spec.parent',
    old: { roles: [ROLE], parent: 'b' },
    good: { roles: [{ name: 'other' }], parent: 'b' },
    bad: { roles: [ROLE], parent: 'c' },
  },
  {
    kind: 'Team',
    rule: 'parent cannot change after creation',
    field: 'spec.parent',
    old: { roles: [ROLE] },
    good: { roles: [ROLE], parent: null },
    bad: { roles: [ROLE], parent: 'c' },
  },
  {
    kind: 'Team',
    rule: 'parent cannot change after creation',
    field: 'spec.parent',
    old: { roles: [ROLE], parent: 'b' },
    good: { roles: [ROLE], parent: 'b', suspend: true },
    bad: { roles: [ROLE] },
  },
  {
    kind: 'Team',
    rule: 'the counts of all roles together exceed budget.maxAgents',
    field: 'spec.roles',
    good: { roles: [{ name: 'one', count: 2 }, { name: 'two' }], budget: { maxAgents: 3 } },
    bad: {
      roles: [
        { name: 'one', count: 2 },
        { name: 'two', count: 2 },
      ],
      budget: { maxAgents: 3 },
    },
  },
  {
    kind: 'Team',
    rule: 'set path (a repository on this machine) or url',
    field: 'spec.repo',
    good: { roles: [ROLE], repo: { path: '/a', url: null } },
    bad: { roles: [ROLE], repo: { path: '/a', url: 'https://example.com/a.git' } },
  },
  {
    kind: 'Team',
    rule: "the role 'lead' must have count 1",
    field: 'spec.roles[1].count',
    good: { roles: [ROLE, { name: 'lead' }] },
    bad: { roles: [ROLE, { name: 'lead', count: 2 }] },
  },
  {
    kind: 'Team',
    rule: 'hostPort can only be fixed for a role with count 1',
    field: 'spec.roles[0].portForwards',
    good: {
      roles: [
        { ...ROLE, portForwards: FIXED_PORT },
        { name: 'two', count: 2, portForwards: [{ guestPort: 80 }] },
      ],
    },
    bad: { roles: [{ ...ROLE, count: 2, portForwards: FIXED_PORT }] },
  },
  {
    kind: 'Team',
    rule: 'orchestrator, system, all and self are reserved',
    field: 'spec.roles[0].name',
    good: { roles: [{ name: 'selfless' }] },
    bad: { roles: [{ name: 'self' }] },
  },
  {
    kind: 'Team',
    rule: 'set exactly one of command',
    field: 'spec.tasks[0]',
    good: { roles: [ROLE], tasks: [{ name: 'first', prompt: 'do it', command: null }] },
    bad: { roles: [ROLE], tasks: [{ name: 'first', prompt: 'do it', command: 'true' }] },
  },
  {
    kind: 'Team',
    rule: 'a task cannot depend on itself',
    field: 'spec.tasks[1].dependsOn',
    good: { roles: [ROLE], tasks: [TASK, { ...TASK, name: 'second', dependsOn: ['first'] }] },
    bad: { roles: [ROLE], tasks: [TASK, { ...TASK, name: 'second', dependsOn: ['first', 'second'] }] },
  },
  {
    kind: 'Team',
    rule: 'a variable name starts with a letter',
    field: 'spec.tasks[0].env',
    good: { roles: [ROLE], tasks: [{ ...TASK, env: { _A1: 'x' } }] },
    bad: { roles: [ROLE], tasks: [{ ...TASK, env: { A: 'x', '1A': 'x' } }] },
  },
  {
    kind: 'Agent',
    rule: 'team cannot change after creation',
    field: 'spec.team',
    old: { team: 'a' },
    good: { team: 'a', description: 'changed' },
    bad: { team: 'b' },
  },
  {
    kind: 'Task',
    rule: 'a Task cannot depend on itself',
    field: 'spec.dependsOn',
    name: 'b-sum',
    good: { team: 'b', command: 'true', dependsOn: ['b', 'count', 'b-b-sum'] },
    bad: { team: 'b', command: 'true', dependsOn: ['count', 'sum'] },
  },
  {
    kind: 'Task',
    rule: 'a Task cannot depend on itself',
    field: 'spec.dependsOn',
    name: 'sum',
    good: { team: 'b', command: 'true', dependsOn: ['total'] },
    bad: { team: 'b', command: 'true', dependsOn: ['sum'] },
  },
  {
    kind: 'Task',
    rule: 'set exactly one of command',
    field: 'spec',
    good: { team: 'a', command: 'true' },
    bad: { team: 'a' },
  },
  {
    kind: 'Task',
    rule: 'team cannot change after creation',
    field: 'spec.team',
    old: { team: 'a', command: 'true' },
    good: { team: 'a', command: 'false' },
    bad: { team: 'b', command: 'true' },
  },
  {
    kind: 'Task',
    rule: 'a variable name starts with a letter',
    field: 'spec.env',
    good: { team: 'a', command: 'true', env: {} },
    bad: { team: 'a', command: 'true', env: { 'A-B': 'x' } },
  },
  {
    kind: 'Merge',
    rule: 'an agent cannot be both a source and the target',
    field: 'spec.sources',
    good: { ...MERGE, target: { agent: 'two' } },
    bad: { ...MERGE, target: { agent: 'a-one' } },
  },
  {
    kind: 'Merge',
    rule: 'set agent, branch or both',
    field: 'spec.target',
    good: { ...MERGE, target: { agent: 'two', branch: 'main' } },
    bad: { ...MERGE, target: {} },
  },
  {
    kind: 'Agent',
    rule: 'what an agent began as cannot change',
    field: 'spec.source',
    old: { team: 'a', source: { agent: 'a-one', snapshot: 'a-one-s' } },
    good: { team: 'a', source: { agent: 'a-one', snapshot: 'a-one-s' } },
    bad: { team: 'a', source: { agent: 'a-one', snapshot: 'a-one-t' } },
  },
  {
    kind: 'Snapshot',
    rule: 'a snapshot is of one agent and one moment',
    field: 'spec',
    old: { team: 'a', agent: 'a-one' },
    good: { team: 'a', agent: 'a-one' },
    bad: { team: 'a', agent: 'a-two' },
  },
  {
    kind: 'Snapshot',
    rule: 'give agent, the full name of the Agent whose files are kept',
    field: 'spec',
    good: { team: 'a', golden: '0123abcd' },
    bad: { team: 'a', agent: 'a-two', golden: '0123abcd' },
  },
  { kind: 'Merge', rule: 'team cannot change after creation', field: 'spec.team', old: MERGE, good: MERGE, bad: { ...MERGE, team: 'b' } },
];

function admit({ kind, name = 'a' }: RuleCase, spec: JsonObject, old: KindObject | undefined): KindObject {
  const found = kinds.find((each) => each.kind === kind);
  const metadata = { name, namespace: 'default', uid: '', resourceVersion: '', generation: 1, creationTimestamp: '' };
  if (!found) throw new Error(kind);
  return found.admit({ apiVersion: found.apiVersion, kind, metadata, spec }, old);
}

describe('the rules of the CRDs', () => {
  it.each(cases)('$kind: $rule ($field)', (each) => {
    const old = each.old && admit(each, each.old, undefined);
    expect(() => admit(each, each.good, old)).not.toThrow();
    const problem = expect.objectContaining({ path: each.field, message: expect.stringContaining(`: ${each.rule}`) });
    expect(() => admit(each, each.bad, old)).toThrow(expect.objectContaining({ fields: [problem] }));
  });

  it.each(['Team', 'Agent', 'Task', 'Merge'])('%s: the name must be a label, also for a server that allows more', (kind) => {
    const schema = crds.find(({ spec }) => spec.names.kind === kind)?.spec.versions[0]?.schema.openAPIV3Schema ?? {};
    const rule = (schema['x-kubernetes-validations'] ?? []).slice(0, 1);
    const named = (name: string) => run({ type: 'object', 'x-kubernetes-validations': rule }, { metadata: { name } });
    expect(named('x'.repeat(63))).toEqual([]);
    for (const name of ['a.b', 'x'.repeat(64)]) {
      expect(named(name)).toEqual([expect.objectContaining({ message: expect.stringMatching(/must be an RFC 1123 label; .* no '\.'$/) })]);
    }
  });

  it('are all in this table', () => {
    const messages = (schema: Schema): string[] => [
      ...(schema['x-kubernetes-validations'] ?? []).map(({ message = '' }) => message),
      ...Object.values(schema.properties ?? {}).flatMap(messages),
      ...(schema.items ? messages(schema.items) : []),
    ];
    for (const { spec } of crds) {
      const { kind } = spec.names;
      const all = messages(spec.versions[0]?.schema.openAPIV3Schema ?? {}).filter((message) => !message.includes('RFC 1123 label'));
      const tested = new Set(cases.filter((each) => each.kind === kind).map(({ rule }) => rule));
      expect(all.filter((message) => ![...tested].some((rule) => message.startsWith(rule)))).toEqual([]);
    }
  });
});

function run(schema: Schema, value: unknown, old?: unknown): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const tree = compileRules(schema);
  if (tree) runRules(tree, value, old, problems);
  return problems;
}

describe('runRules', () => {
  const map = (rules: Schema['x-kubernetes-validations'], properties: Schema['properties'] = {}): Schema => ({
    type: 'object',
    properties,
    ...(rules ? { 'x-kubernetes-validations': rules } : {}),
  });

  it('refuses to compile a rule with a mistake in it', () => {
    expect(() => compileRules(map([{ rule: 'self.a ==' }]))).toThrow();
  });

  it('has nothing to do for a schema without rules', () => {
    expect(compileRules(map(undefined, { a: { type: 'string' } }))).toBeUndefined();
  });

  it('tells integers from doubles by the schema, and sees a null as absent', () => {
    const schema = map([{ rule: 'self.whole / 2 == 1 && self.real / 2.0 == 1.5 && !has(self.gone)' }], {
      whole: { type: 'integer' },
      real: { type: 'number' },
      gone: { type: 'string', nullable: true },
    });
    expect(run(schema, { whole: 3, real: 3, gone: null })).toEqual([]);
  });

  it('runs a rule that compares with the old value only when there is one', () => {
    const schema = map(undefined, { a: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'stays' }] } });
    expect(run(schema, { a: 'x' })).toEqual([]);
    expect(run(schema, { a: 'x' }, {})).toEqual([]);
    expect(run(schema, { a: 'x' }, { a: 'x' })).toEqual([]);
    expect(run(schema, { a: 'x' }, { a: 'y' })).toEqual([
      expect.objectContaining({ path: 'a', message: 'Invalid value: "string": stays' }),
    ]);
  });

  it('finds the old self of an entry of a map-list by its key, wherever it stands now', () => {
    const entry: Schema = {
      type: 'object',
      properties: { name: { type: 'string' }, size: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >= oldSelf' }] } },
    };
    const schema: Schema = { type: 'array', 'x-kubernetes-list-map-keys': ['name'], items: entry };
    const a = (size: number) => ({ name: 'a', size });
    const b = (size: number) => ({ name: 'b', size });
    expect(run(schema, [b(2), a(1)], [a(1), b(2)])).toEqual([]);
    expect(run(schema, [b(1), a(1), { name: 'c', size: 0 }], [a(1), b(2)]).map(({ segments }) => formatPath(segments))).toEqual([
      '[0].size',
    ]);
  });

  it('looks into free maps, and runs again what another field of the rule changed', () => {
    const schema: Schema = {
      type: 'object',
      additionalProperties: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self < 3' }] },
    };
    expect(run(schema, { a: 1, b: 3 })).toEqual([
      expect.objectContaining({ path: 'b', message: 'Invalid value: "integer": failed rule: self < 3' }),
    ]);
    const pair = map([{ rule: 'self.a <= self.b' }], { a: { type: 'integer' }, b: { type: 'integer' }, c: { type: 'integer' } });
    expect(run(pair, { a: 2, b: 1, c: 1 }, { a: 2, b: 2, c: 1 })).toHaveLength(1);
    expect(run(pair, { a: 2, b: 2, c: 2 }, { a: 2, b: 2, c: 1 })).toEqual([]);
  });

  it('reports a rule that cannot be evaluated instead of passing it', () => {
    const [problem] = run(map([{ rule: 'self.missing > 1', message: 'never shown' }]), {});
    expect(problem?.message).toMatch(/^Invalid value: "object": rule cannot be evaluated: /);
  });
});

describe('the message of a rule', () => {
  const schemaOf = (messageExpression: string): Schema => ({
    type: 'object',
    properties: { list: { type: 'array', items: { type: 'integer' } }, most: { type: 'integer' } },
    'x-kubernetes-validations': [{ rule: 'self.list.sum() <= self.most', message: 'too much', messageExpression }],
  });
  const messageOf = (messageExpression: string) => {
    const problems: FieldProblem[] = [];
    const tree = compileRules(schemaOf(messageExpression));
    if (tree) runRules(tree, { list: [3, 4], most: 5 }, undefined, problems);
    return problems[0]?.message;
  };

  it.each([
    ["'asks for ' + string(self.list.sum()) + ', has ' + string(self.most)", 'asks for 7, has 5'],
    ['string(self.most / 0)', 'too much'],
    ["' '", 'too much'],
    ["'two\\nlines'", 'too much'],
    ['self.most', 'too much'],
  ])('may be an expression: %s', (expression, want) => {
    expect(messageOf(expression)).toBe(`Invalid value: "object": ${want}`);
  });
});
