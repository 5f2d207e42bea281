import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { silentLogger } from '#lib/log.ts';
import { scriptCommand } from '../../test/support/script.ts';
import { openVault } from './open-vault.ts';
import { type TestVault, testVault } from './vault.fixture.ts';

let world: TestVault | undefined;
afterEach(() => world?.end());

const writer = join(import.meta.dirname, 'crash-writer.fixture.ts');

/** Killed as soon as it has said so many lines; what it had said by then. */
async function killedAfter(home: string, lines: number): Promise<string[]> {
  const [command, ...args] = scriptCommand(writer, [home]);
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
    if (said.split('\n').length > lines) child.kill('SIGKILL');
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => child.on('close', (...how) => resolve(how)));
  expect([code, signal]).toEqual([null, 'SIGKILL']);
  return said.trimEnd().split('\n');
}

it('killed in the middle of writing it leaves whole files, every acknowledged line, and nothing half done', async () => {
  world = await testVault();
  const { home, at } = world;
  for (const lines of [3, 25]) {
    const acknowledged = await killedAfter(home, lines);
    const log = readFileSync(at('teams/a/notes/log.md'), 'utf8').split('\n');
    expect(log.pop()).toBe('');
    for (const line of acknowledged) expect(log).toContain(line);
    for (const path of [...filesIn('teams/a/notes').filter((name) => name.includes('page')), ...filesIn('teams/a/tasks')]) {
      const words = readFileSync(at(path), 'utf8').trimEnd().split('\n');
      expect([words.length, new Set(words).size]).toEqual([2_000, 1]);
    }
    const next = await openVault({ home, log: silentLogger });
    expect(readdirSync(at('.agentiso'))).toEqual([]);
    await next.close();
    rmSync(at('teams'), { recursive: true });
  }
  function filesIn(path: string): string[] {
    return readdirSync(at(path)).map((name) => `${path}/${name}`);
  }
}, 60_000);
