import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sweep } from './pool-sweep.ts';

/** Of version 1, where a group with a process in it can be made below any other. */
const PIDS = '/sys/fs/cgroup/pids';
const isHere = process.getuid?.() === 0 && existsSync(join(PIDS, 'tasks'));

it.runIf(isHere)('removes the group of one that ends by itself a moment later, whose name cannot be read any more', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'agentiso-sweep-'));
  const prefix = `agentiso-sweep-${process.pid}-`;
  const group = join(PIDS, `${prefix}member`);
  mkdirSync(group);
  const member = spawn('sleep', ['0.5']);
  const ended = once(member, 'exit');
  try {
    writeFileSync(join(group, 'tasks'), String(member.pid));
    await sweep({ stateDir, places: { version: 1, parents: { pids: PIDS } }, groupPrefix: prefix, markPrefix: prefix });
    expect(existsSync(group)).toBe(false);
  } finally {
    await ended;
    if (existsSync(group)) rmdirSync(group);
    rmSync(stateDir, { recursive: true });
  }
});
