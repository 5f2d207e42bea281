import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandContext } from '../command.ts';
import { runCli } from '../index.ts';

const TASK = 'apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata: {name: one}\nspec: {team: a, command: "true"}\n';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-validate-'));
  mkdirSync(join(folder, 'inner'));
  writeFileSync(join(folder, 'good.yaml'), TASK);
  writeFileSync(join(folder, 'inner', 'bad.yaml'), TASK.replace('one', 'two').replace('team: a', 'team: a, priority: 9'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function validate(...args: readonly string[]) {
  const said = { out: '', err: '' };
  const context = {
    out: (text: string) => {
      said.out += text;
    },
    err: (text: string) => {
      said.err += text;
    },
    signal: new AbortController().signal,
  } as unknown as CommandContext;
  return { code: await runCli(['validate', ...args], context), ...said };
}

describe('validate', () => {
  it('takes files and folders, named or after -f, and looks into folders with -R', async () => {
    const good = join(folder, 'good.yaml');
    const valid = { code: 0, out: 'task/one valid\n', err: '' };
    expect(await validate(good)).toEqual(valid);
    expect(await validate('-f', good)).toEqual(valid);
    expect(await validate('-f', folder)).toEqual(valid);
    const { code, out, err } = await validate('-R', '-f', folder);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/inner\/bad\.yaml:4:\d+: spec\.priority: Invalid value: 9: .*\n$/);
  });

  it('is one document for programs with -o json', async () => {
    const bad = join(folder, 'inner', 'bad.yaml');
    const { code, out, err } = await validate('-o', 'json', join(folder, 'good.yaml'), bad);
    expect([code, err]).toEqual([1, '']);
    expect(JSON.parse(out)).toEqual({
      valid: false,
      objects: [{ apiVersion: 'agentiso.dev/v1alpha1', kind: 'Task', namespace: 'default', name: 'one' }],
      problems: [{ file: bad, line: 4, column: expect.any(Number), message: expect.stringContaining('spec.priority: Invalid value: 9') }],
    });
    const empty = await validate('-o', 'json', join(folder, 'good.yaml'));
    expect([empty.code, JSON.parse(empty.out)]).toEqual([0, { valid: true, objects: [expect.anything()], problems: [] }]);
  });
});

describe('validate of several documents together', () => {
  const task = (name: string, spec: string) =>
    `---\napiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata: {name: a-${name}}\nspec:\n  team: a\n  command: "true"\n  ${spec}\n`;
  const team = 'apiVersion: agentiso.dev/v1alpha1\nkind: Team\nmetadata: {name: a}\nspec: {roles: [{name: dev}]}\n';
  const check = async (text: string) => {
    const file = join(folder, 'inner', 'set.yaml');
    writeFileSync(file, text);
    const { code, out, err } = await validate(file);
    rmSync(file);
    return { code, out, err: err.replaceAll(file, 'set.yaml') };
  };

  it('names the circle that tasks make, with its file, line and field', async () => {
    expect(await check(task('x', 'dependsOn: [y]') + task('y', 'dependsOn: [x]'))).toEqual({
      code: 1,
      out: '',
      err: 'set.yaml:8:15: spec.dependsOn[0]: Invalid value: "y": tasks that wait for each other never start: x -> y -> x; remove one of these dependencies (DependencyCycle)\n',
    });
  });

  it('names what a team of the files lacks, and leaves open what may be there already', async () => {
    const lost = task('x', 'dependsOn: [gone]\n  assignTo: qa');
    expect((await check(team + lost)).err.split('\n')).toEqual([
      'set.yaml:12:15: spec.dependsOn[0]: Not found: "gone": team a has no task of that name; create it, here or before, or remove the dependency (DependencyNotFound)',
      'set.yaml:13:3: spec.assignTo: Not found: "qa": team a has no agent or role of that name; its roles are dev (AssigneeNotFound)',
      '',
    ]);
    expect((await check(lost)).code).toBe(0);
    expect((await check(team.replace('{roles', '{parent: elsewhere, roles'))).code).toBe(0);
  });

  it('takes words for priorities', async () => {
    expect(await check(task('x', 'priority: high'))).toEqual({ code: 0, out: 'task/a-x valid\n', err: '' });
    expect((await check(task('x', 'priority: urgent'))).err).toMatch(/^set.yaml:8:3: spec.priority: Invalid value: "string": .*integer/);
  });
});
