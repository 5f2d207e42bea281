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
