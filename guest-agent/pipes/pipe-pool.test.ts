import { closeSync, readdirSync, readSync, writeSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProcessGroups } from '../process-group.ts';
import { runCommand } from '../run-command.ts';
import { PipePool } from './pipe-pool.ts';

let base: string;
let directory: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'agentiso-pipes-'));
  directory = join(base, 'pipes');
});

afterEach(() => rm(base, { recursive: true }));

const openDescriptors = () => readdirSync('/proc/self/fd').length;

describe('PipePool', () => {
  it('gives pipes that carry bytes, different ones while they are in use', async () => {
    const pool = new PipePool(directory);
    const pipes = (await pool.take(6)) ?? [];
    expect(pipes).toHaveLength(6);
    for (const [i, { writeEnd }] of pipes.entries()) writeSync(writeEnd, `pipe ${i}`);
    for (const [i, { readEnd, writeEnd }] of pipes.entries()) {
      const bytes = Buffer.alloc(100);
      expect(bytes.toString('utf8', 0, readSync(readEnd, bytes))).toBe(`pipe ${i}`);
      closeSync(readEnd);
      closeSync(writeEnd);
    }
  });

  it('uses dry ones again, and no others', async () => {
    const pool = new PipePool(directory);
    const [dry, wet] = (await pool.take(2)) ?? [];
    const made = readdirSync(directory).length;
    for (const pipe of [dry, wet]) for (const end of [pipe?.readEnd, pipe?.writeEnd]) closeSync(end ?? -1);
    dry?.giveBack(true);
    wet?.giveBack(false);
    expect(readdirSync(directory)).toHaveLength(made - 1);
  });

  it('makes them once for commands that begin together', async () => {
    const pool = new PipePool(directory);
    const taken = await Promise.all(Array.from({ length: 4 }, () => pool.take(2)));
    const pipes = taken.flatMap((each) => each ?? []);
    expect([pipes.length, readdirSync(directory).length]).toEqual([8, 8]);
    for (const { readEnd, writeEnd } of pipes) for (const end of [readEnd, writeEnd]) closeSync(end);
  });

  it('leaves commands to sockets where no pipes can be made', async () => {
    await writeFile(join(base, 'file'), '');
    const groups = new ProcessGroups(new PipePool(join(base, 'file', 'below')));
    const command = { argv: ['echo', 'still'], cwd: base, env: { PATH: '/usr/bin:/bin' }, signal: new AbortController().signal, groups };
    expect(await runCommand(command)).toMatchObject({ exitCode: 0, stdout: { text: 'still\n' } });
  });

  it('leaks nothing over many commands, also those that cannot be started', async () => {
    const groups = new ProcessGroups(new PipePool(directory));
    const run = (...argv: string[]) =>
      runCommand({ argv, cwd: base, env: { PATH: '/usr/bin:/bin' }, signal: new AbortController().signal, groups });
    await run('true');
    const before = openDescriptors();
    for (let i = 0; i < 20; i++) {
      await run('echo', 'x');
      await expect(run('/no/such/program')).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(run('echo', 'a\0b')).rejects.toThrow();
    }
    await expect.poll(openDescriptors).toBeLessThanOrEqual(before);
    expect(readdirSync(directory).length).toBeLessThan(10);
  });
});
