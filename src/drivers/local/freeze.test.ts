import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { requires } from '../../../test/support/requirements.ts';
import { ensureGroups, killGroups, removeGroups } from './cgroup.ts';
import { findCgroupPlaces } from './cgroup-places.ts';
import { canFreeze, freezeGroups } from './freeze.ts';

const NAME = `agentiso-freeze-test-${process.pid}`;
const places = process.getuid?.() === 0 ? findCgroupPlaces(`${NAME}-probe`) : undefined;
let groups: string[] = [];

afterEach(async () => {
  killGroups(groups);
  await vi.waitFor(() => expect(removeGroups(groups)).toBe(true));
  groups = [];
});

const withFreezer = requires(canFreeze(places), 'to hold control groups still needs root and a freezer');

withFreezer('control groups that are held still', () => {
  async function counting() {
    if (!places) throw new Error('skipped otherwise');
    groups = ensureGroups(places, NAME, { vcpus: 1, memoryMiB: 64, diskGiB: 1 });
    const child = spawn('sh', ['-c', 'read go; n=0; while :; do n=$((n+1)); echo $n; sleep 0.01; done'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    for (const group of groups) writeFileSync(join(group, 'cgroup.procs'), String(child.pid));
    let count = 0;
    child.stdout.on('data', (chunk) => {
      count = Number(String(chunk).trim().split('\n').at(-1));
    });
    child.stdin.write('\n');
    await once(child.stdout, 'data');
    const cpu = () => readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(' ').slice(13, 15).join(' ');
    return { child, cpu, count: () => count };
  }

  it('stand until they are let go, and go on where they were', async () => {
    const { cpu, count } = await counting();
    await freezeGroups(groups, true);
    const before = cpu();
    await freezeGroups(groups, true);
    expect(cpu()).toBe(before);
    const counted = count();
    await freezeGroups(groups, false);
    await vi.waitFor(() => expect(count()).toBeGreaterThan(counted));
  });

  it('can be killed while they stand', async () => {
    const { child } = await counting();
    await freezeGroups(groups, true);
    const ended = once(child, 'exit');
    expect(killGroups(groups)).toBe(true);
    await ended;
  });
});
