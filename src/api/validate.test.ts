import { describe, expect, it } from 'vitest';
import { InvalidError } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';
import { admission, kinds } from './kinds.ts';
import type { KindObject } from './meta.ts';
import { admissionOf, formatProblem } from './validate.ts';

const API = 'agentiso.dev/v1alpha1';
const TEAM = { roles: [{ name: 'worker' }] };
const TASK = { team: 'a', command: 'true' };
const MERGE = { team: 'a', sources: [{ agent: 'one' }], target: { branch: 'main' } };

function document(kind: string, spec: unknown, rest: JsonObject = {}): KindObject {
  return { apiVersion: API, kind, metadata: { name: 'a', namespace: 'default' }, spec, ...rest } as unknown as KindObject;
}

function admit(object: KindObject, kind = object.kind): KindObject {
  const found = kinds.find((each) => each.kind === kind);
  if (!found) throw new Error(`no kind ${kind}`);
  return found.admit(object, undefined);
}

function problemsOf(object: KindObject, kind = object.kind): string[] {
  try {
    admit(object, kind);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidError)) throw error;
    return error.fields.map(formatProblem);
  }
}

interface Bad {
  readonly name: string;
  readonly object: KindObject;
  readonly want: readonly (string | RegExp)[];
}

const bad: readonly Bad[] = [
  {
    name: 'Team: a word that is not among those accepted',
    object: document('Team', { roles: [{ name: 'worker', backend: 'bash' }] }),
    want: [
      'spec.roles[0].backend: Unsupported value: "bash": supported values: "shell", "claude-code", "codex", "gemini", "qwen", "droid", "opencode", "acp"',
    ],
  },
  {
    name: 'Team: text where a number belongs',
    object: document('Team', { roles: [{ name: 'worker', count: 'three' }] }),
    want: ['spec.roles[0].count: Invalid value: "string": spec.roles[0].count in body must be of type integer: "string"'],
  },
  {
    name: 'Team: a fraction where a whole number belongs',
    object: document('Team', { ...TEAM, budget: { maxAgents: 1.5 } }),
    want: ['spec.budget.maxAgents: Invalid value: "number": spec.budget.maxAgents in body must be of type integer: "number"'],
  },
  {
    name: 'Team: a number outside its bounds',
    object: document('Team', { roles: [{ name: 'worker', resources: { vcpus: 0, memoryMiB: 9000 } }] }),
    want: [
      'spec.roles[0].resources.vcpus: Invalid value: 0: spec.roles[0].resources.vcpus in body should be greater than or equal to 1',
      'spec.roles[0].resources.memoryMiB: Invalid value: 9000: spec.roles[0].resources.memoryMiB in body should be less than or equal to 8192',
    ],
  },
  {
    name: 'Team: an empty list of roles',
    object: document('Team', { roles: [] }),
    want: ['spec.roles: Invalid value: 0: spec.roles in body should have at least 1 items'],
  },
  {
    name: 'Team: too many roles',
    object: document('Team', { roles: Array.from({ length: 65 }, (_, index) => ({ name: `r${index}` })), budget: { maxAgents: 100 } }),
    want: ['spec.roles: Too many: 65: must have at most 64 items'],
  },
  {
    name: 'Team: a range that is none',
    object: document('Team', { ...TEAM, network: { allowCidrs: ['10.0.0.0'] } }),
    want: [/^spec\.network\.allowCidrs\[0\]: Invalid value: "10\.0\.0\.0": spec\.network\.allowCidrs\[0\] in body should match '\^\(\(25/],
  },
  {
    name: 'Team: two roles with one name',
    object: document('Team', { roles: [{ name: 'worker' }, { name: 'worker' }] }),
    want: ['spec.roles[1]: Duplicate value: {"name":"worker"}'],
  },
  {
    name: 'Team: a port named twice',
    object: document('Team', { ...TEAM, network: { allowedPorts: [80, 443, 80] } }),
    want: ['spec.network.allowedPorts[2]: Duplicate value: 80'],
  },
  {
    name: 'Team: a list that is a map',
    object: document('Team', { roles: { worker: {} } }),
    want: ['spec.roles: Invalid value: "object": spec.roles in body must be of type array: "object"'],
  },
  { name: 'Team: no roles', object: document('Team', {}), want: ['spec.roles: Required value'] },
  { name: 'Team: no spec', object: document('Team', undefined), want: ['spec: Required value'] },
  { name: 'Team: a null spec', object: document('Team', null), want: ['spec: Required value'] },
  {
    name: 'Agent: an unknown state',
    object: document('Agent', { team: 'a', desiredState: 'Paused' }),
    want: ['spec.desiredState: Unsupported value: "Paused": supported values: "Running", "Suspended", "Stopped"'],
  },
  { name: 'Agent: no team', object: document('Agent', {}), want: ['spec.team: Required value'] },
  {
    name: 'Agent: a variable name that is none',
    object: document('Agent', { team: 'a', envFrom: [{ hostEnv: 'A-B' }] }),
    want: ['spec.envFrom[0].hostEnv: Invalid value: "A-B": spec.envFrom[0].hostEnv in body should match \'^[A-Za-z_][A-Za-z0-9_]*$\''],
  },
  {
    name: 'Agent: a port forward without its key',
    object: document('Agent', { team: 'a', portForwards: [{ hostPort: 8080 }] }),
    want: ['spec.portForwards[0].guestPort: Required value'],
  },
  {
    name: 'Task: a priority that does not exist',
    object: document('Task', { ...TASK, priority: 6 }),
    want: ['spec.priority: Invalid value: 6: spec.priority in body should be less than or equal to 5'],
  },
  {
    name: 'Task: a title that is too long',
    object: document('Task', { ...TASK, title: 'x'.repeat(257) }),
    want: ['spec.title: Too long: may not be more than 256 bytes'],
  },
  {
    name: 'Task: an empty command',
    object: document('Task', { team: 'a', command: '' }),
    want: ['spec.command: Invalid value: "": spec.command in body should be at least 1 chars long'],
  },
  {
    name: 'Task: a variable that is a number',
    object: document('Task', { ...TASK, env: { LAST: 100 } }),
    want: ['spec.env.LAST: Invalid value: "integer": spec.env.LAST in body must be of type string: "integer"'],
  },
  {
    name: 'Task: a field with a typing error',
    object: document('Task', { ...TASK, timeoutSecond: 3 }),
    want: ['unknown field "spec.timeoutSecond"; did you mean "timeoutSeconds"?'],
  },
  {
    name: 'Task: a time that is none',
    object: document('Task', TASK, { status: { startedAt: 'yesterday' } }),
    want: ['status.startedAt: Invalid value: "yesterday": status.startedAt in body must be of type date-time: "yesterday"'],
  },
  {
    name: 'Merge: nothing to merge',
    object: document('Merge', { ...MERGE, sources: [] }),
    want: ['spec.sources: Invalid value: 0: spec.sources in body should have at least 1 items'],
  },
  {
    name: 'Merge: a source named twice',
    object: document('Merge', { ...MERGE, sources: [{ agent: 'one' }, { agent: 'one', base: 'x' }] }),
    want: ['spec.sources[1]: Duplicate value: {"agent":"one"}'],
  },
  {
    name: 'Merge: an unknown strategy',
    object: document('Merge', { ...MERGE, strategy: 'octopus' }),
    want: ['spec.strategy: Unsupported value: "octopus": supported values: "sequential", "branch-per-source", "cherry-pick"'],
  },
  {
    name: 'any kind: a field far from everything that is known',
    object: document('Merge', { ...MERGE, xyzzy: 1 }),
    want: [/^unknown field "spec\.xyzzy"; accepted here: team, sources, target, strategy, /],
  },
  {
    name: 'any kind: an unknown field at the root and in metadata',
    object: document('Task', TASK, { metadata: { name: 'a', namespace: 'default', lables: {} }, Spec: {} }),
    want: ['unknown field "metadata.lables"; did you mean "labels"?', 'unknown field "Spec"; did you mean "spec"?'],
  },
  {
    name: 'any kind: no name',
    object: document('Task', TASK, { metadata: { namespace: 'default' } }),
    want: ['metadata.name: Required value: name or generateName is required'],
  },
  {
    name: 'any kind: a name that cannot be a file name',
    object: document('Task', TASK, { metadata: { name: '../a', namespace: 'default' } }),
    want: [/^metadata\.name: Invalid value: "\.\.\/a": a lowercase RFC 1123 subdomain must consist of/, /must be an RFC 1123 label/],
  },
  {
    name: 'any kind: another version',
    object: document('Task', TASK, { apiVersion: 'agentiso.dev/v1' }),
    want: ['apiVersion: Invalid value: "agentiso.dev/v1": must be agentiso.dev/v1alpha1'],
  },
  {
    name: 'any kind: no version',
    object: document('Task', TASK, { apiVersion: undefined }),
    want: ['apiVersion: Invalid value: "": must be agentiso.dev/v1alpha1'],
  },
  {
    name: 'any kind: a label that is a number',
    object: document('Task', TASK, { metadata: { name: 'a', namespace: 'default', labels: { year: 2026 } } }),
    want: ['metadata.labels.year: Invalid value: "integer": metadata.labels.year in body must be of type string: "integer"'],
  },
];

describe('a document that is refused', () => {
  it.each(bad)('$name', ({ object, want }) => {
    const problems = problemsOf(object);
    expect(problems).toHaveLength(want.length);
    want.forEach((expected, index) => {
      if (typeof expected === 'string') expect(problems[index]).toBe(expected);
      else expect(problems[index]).toMatch(expected);
    });
  });

  it('names the object and all its mistakes at once', () => {
    expect(() => admit(document('Task', { ...TASK, priority: 0, maxAttempts: 0 }))).toThrow(
      'Task "a" is invalid: [spec.priority: Invalid value: 0: spec.priority in body should be greater than or equal to 1, spec.maxAttempts: Invalid value: 0: spec.maxAttempts in body should be greater than or equal to 1]',
    );
  });

  it('is of another kind than the place it was sent to', () => {
    expect(problemsOf(document('Task', TASK), 'Agent')[0]).toBe('kind: Invalid value: "Task": must be Agent');
  });

  it('shows the beginning of a value that is very long', () => {
    const [problem = ''] = problemsOf(document('Task', { ...TASK, team: 'X'.repeat(60) + 'y'.repeat(100) }));
    expect(problem.length).toBeLessThan(300);
  });
});

describe('a document that is accepted', () => {
  it('has its keys in the order of the schema, whoever wrote it, and free maps in the order of the writer', () => {
    const spec = { command: 'true', team: 'a', env: { B: '1', A: '2' }, title: 't' };
    const { metadata, ...rest } = document('Task', spec);
    const admitted = admit({ ...rest, metadata: { labels: { z: '1', a: '2' }, ...metadata } as KindObject['metadata'] });
    expect(Object.keys(admitted)).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
    expect(Object.keys(admitted.metadata)).toEqual(['name', 'namespace', 'labels']);
    expect(Object.keys(admitted.metadata.labels ?? {})).toEqual(['z', 'a']);
    expect(Object.keys(admitted.spec as object)).toEqual([
      'team',
      'title',
      'priority',
      'command',
      'workdir',
      'env',
      'maxAttempts',
      'planRequired',
      'stuckPolicy',
      'retry',
      'cancelled',
    ]);
    expect(Object.keys((admitted.spec as { env: object }).env)).toEqual(['B', 'A']);
  });

  it.each([
    { name: 'gives a null its default', spec: { ...TASK, priority: null }, want: { priority: 3 } },
    { name: 'keeps a null where the schema allows it', spec: { ...TASK, prompt: null }, want: { prompt: null } },
    { name: 'drops a null that says nothing', spec: { ...TASK, title: null }, want: { title: undefined } },
    { name: 'drops a null in a free map', spec: { ...TASK, env: { A: null, B: 'b' } }, want: { env: { B: 'b' } } },
  ])('$name', ({ spec, want }) => {
    const admitted = admit(document('Task', spec)).spec as JsonObject;
    for (const [key, value] of Object.entries(want)) expect(admitted[key]).toEqual(value);
    expect(Object.keys(admitted)).not.toContain('title');
  });

  it('keeps unknown fields where the schema wants them kept, nulls included', () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'string', default: null } }, b: [null, { c: 1 }] };
    const admitted = admit(document('Agent', { team: 'a', inputSchema })).spec as JsonObject;
    expect(admitted['inputSchema']).toEqual(inputSchema);
  });

  it('may have a finalizer twice, as in Kubernetes', () => {
    const finalizers = ['x/y', 'x/z', 'x/y'];
    expect(admit(document('Task', TASK, { metadata: { name: 'a', namespace: 'default', finalizers } })).metadata.finalizers).toEqual(
      finalizers,
    );
  });

  it('has at most 63 characters of name', () => {
    const named = (name: string) => document('Task', TASK, { metadata: { name, namespace: 'default' } });
    expect(problemsOf(named('x'.repeat(63)))).toEqual([]);
    expect(problemsOf(named('x'.repeat(64)))).toHaveLength(1);
  });
});

describe('admissionOf', () => {
  const text = { type: 'string' } as const;
  const part = (name: string) => ({ type: 'object', properties: { [name]: { type: 'integer' } } }) as const;
  const properties = { apiVersion: text, kind: text, metadata: { type: 'object' }, spec: part('size'), status: part('seen') } as const;

  it('takes a part that is the stored one as it is, in its place', () => {
    const admit = admissionOf({ kind: 'Box', apiVersion: 'test/v1', schema: { type: 'object', properties } });
    const metadata = { name: 'a', namespace: 'default' };
    const old = admit({ apiVersion: 'test/v1', kind: 'Box', metadata, spec: { size: 1 } } as unknown as KindObject, undefined);
    const next = admit({ ...old, status: { seen: 1 } }, old);
    expect(next.spec).toBe(old.spec);
    expect(Object.keys(next)).toEqual(['apiVersion', 'kind', 'metadata', 'spec', 'status']);
    expect(() => admit({ ...old, status: { seen: 'x' } }, old)).toThrow('status.seen');
  });
});

it('refuses __proto__ as a key, which JSON allows and programs stumble over', () => {
  const task = JSON.parse(
    '{"apiVersion":"agentiso.dev/v1alpha1","kind":"Task","metadata":{"name":"a","namespace":"default"},"spec":{"team":"a","command":"x","env":{"__proto__":"y"}}}',
  );
  expect(() => admission.admit(task, undefined)).toThrow('spec.env.__proto__: Forbidden: __proto__ cannot be used as a key');
});
