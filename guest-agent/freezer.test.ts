/** Real processes, stopped and let go. */
import { readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { Freezer } from './freezer.ts';
import { ProcessGroups } from './process-group.ts';
import { startCommand } from './started-command.ts';

const groups = new ProcessGroups();
const WAIT = { timeout: 5_000, interval: 10 };

const stateOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, '')[0];

function start(script: string, freezer: Freezer, more: { timeoutMs?: number; signal?: AbortSignal } = {}) {
  const { timeoutMs, signal = new AbortController().signal } = more;
  return startCommand({
    argv: ['/bin/sh', '-c', script],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    signal,
    groups,
    freezer,
    timeoutMs,
    hasStdin: true,
  });
}

it('stops everything that a command has started, and lets it go on', async () => {
  const freezer = new Freezer();
  const command = await start('sleep 100 & echo $!; read line; exit 3', freezer);
  const [child] = (await new Promise<Buffer>((resolve) => command.stdout.once('data', resolve))).toString().split('\n').map(Number);
  freezer.set(true);
  await vi.waitFor(() => expect([stateOf(command.groupId), stateOf(child ?? 0)]).toEqual(['T', 'T']), WAIT);
  freezer.set(true);
  freezer.set(false);
  await vi.waitFor(() => expect([stateOf(child ?? 0)]).toEqual(['S']), WAIT);
  command.stdin?.end('\n');
  expect((await command.exited).exitCode).toBe(3);
});

it('stops a command that was to be stopped before it had started', async () => {
  const freezer = new Freezer();
  freezer.set(true);
  const command = await start('read line; exit 4', freezer);
  await vi.waitFor(() => expect(stateOf(command.groupId)).toBe('T'), WAIT);
  freezer.set(false);
  command.stdin?.end('\n');
  expect((await command.exited).exitCode).toBe(4);
});

it('lets the time limit wait, and goes on with what was left of it', async () => {
  const freezer = new Freezer();
  const command = await start('sleep 100', freezer, { timeoutMs: 700 });
  freezer.set(true);
  const first = await Promise.race([command.exited, new Promise((resolve) => setTimeout(resolve, 1_000, 'still there'))]);
  expect(first).toBe('still there');
  freezer.set(false);
  expect(await command.exited).toMatchObject({ stoppedBy: 'timeout' });
});

it('ends a command that stands still with its grace, when it is to end', async () => {
  const freezer = new Freezer();
  const ending = new AbortController();
  const command = await start('trap "exit 5" TERM; echo ready; while :; do sleep 0.05; done', freezer, { signal: ending.signal });
  await new Promise((resolve) => command.stdout.once('data', resolve));
  freezer.set(true);
  // A shell that was caught in the middle of a vfork waits for its child (D), which is stopped.
  await vi.waitFor(() => expect(stateOf(command.groupId)).toMatch(/[TD]/), WAIT);
  ending.abort();
  expect(await command.exited).toEqual({ exitCode: 5, stoppedBy: 'cancel' });
});
