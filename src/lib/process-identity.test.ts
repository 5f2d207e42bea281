import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { isRunning, parseProcessStat, readProcessIdentity, signalProcess } from './process-identity.ts';

const AFTER_NAME = 'S 1 42 42 0 -1 4194560 100 0 0 0 1 2 3 4 20 0 1 0 987654 1000 10 18446744073709551615';

describe('parseProcessStat', () => {
  it.each(['node', 'a b', 'evil) R 1 (x', '((', ')'])('reads behind the name %j', (name) => {
    expect(parseProcessStat(`42 (${name}) ${AFTER_NAME}\n`)).toEqual({ state: 'S', startTime: 987654, parent: 1, cpuTicks: 10 });
  });

  it.each(['', '42', '42 (node)', '42 (node) S 1 2'])('refuses %j', (text) => {
    expect(() => parseProcessStat(text)).toThrow();
  });
});

describe('the identity of a process', () => {
  it('is that of a running process, and stays', () => {
    const identity = readProcessIdentity(process.pid);
    expect(identity).toEqual({ pid: process.pid, startTime: expect.any(Number), bootId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(readProcessIdentity(process.pid)).toEqual(identity);
  });

  it('ends with the process', async () => {
    const child = spawn('sleep', ['1000']);
    const exited = once(child, 'exit');
    const identity = readProcessIdentity(child.pid ?? 0);
    if (identity === undefined) throw new Error('the process should be there');
    expect(isRunning(identity)).toBe(true);
    expect(signalProcess(identity, 'SIGKILL')).toBe(true);
    await exited;
    expect(isRunning(identity)).toBe(false);
    expect(signalProcess(identity, 'SIGKILL')).toBe(false);
  });

  it('is not that of another process with the same pid', async () => {
    const child = spawn('sleep', ['1000']);
    const exited = once(child, 'exit');
    const identity = readProcessIdentity(child.pid ?? 0);
    if (identity === undefined) throw new Error('the process should be there');
    for (const other of [
      { ...identity, startTime: identity.startTime + 1 },
      { ...identity, bootId: 'another boot' },
    ]) {
      expect(signalProcess(other, 'SIGKILL')).toBe(false);
    }
    expect(isRunning(identity)).toBe(true);
    child.kill('SIGKILL');
    await exited;
  });
});
