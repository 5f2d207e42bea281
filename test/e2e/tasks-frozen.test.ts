/**
 * An agent whose processes stand still for longer than a lease: it loses what it has, others do it, and what it says afterwards is refused. And a
 * daemon that stands still for as long: that says nothing about its agents.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import { AgentsHome, WAIT } from '../support/agents-home.ts';

/** A lease of 30 s, what the agent needs to be found dead, and a busy machine. */
const LOST = { timeout: 90_000, interval: 200 };

/** Longer than a lease. */
const STOPPED_MS = 36_000;

/** Stopped in the meantime: both wait for the same half minute. */
const other = new AgentsHome();
let stoppedMs = 0;
beforeAll(async () => {
  await other.start();
  await other.create('Team', 'calm', { isolation: { driver: 'process' }, roles: [{ name: 'cat' }] });
  await other.ready(['calm-cat']);
  const command = 'echo "$AGENTISO_ATTEMPT" >> starts; until [ -e go ]; do sleep 0.05; done; cat starts';
  await other.create('Task', 'calm-work', { team: 'calm', command });
  await other.create('Task', 'calm-think', { team: 'calm', prompt: 'think' });
  await other.reached('calm-work', 'Running');
  await vi.waitFor(async () => expect((await other.task('calm-think')).status?.reason).toBe('OpenForClaim'), WAIT);
  expect(await other.inside('calm-cat', 'team', 'claim', 'think')).toContain('think');
  process.kill(other.pid, 'SIGSTOP');
  stoppedMs = performance.now();
});
afterAll(async () => {
  process.kill(other.pid, 'SIGCONT');
  // What it had asked before may have taken too long.
  await other.close(expect.any(String));
});

describe('an agent that is frozen for 31 s', () => {
  const home = new AgentsHome();
  let frozen: readonly number[] = [];
  beforeAll(async () => {
    await home.start();
    await home.create('Team', 'cold', {
      isolation: { driver: 'process' },
      roles: [{ name: 'ann' }, { name: 'bob' }],
    });
    await home.ready(['cold-ann', 'cold-bob']);
  });
  afterAll(async () => {
    thaw();
    // The daemon may have asked the agent something while that could not answer, and says so.
    await home.close(expect.any(String));
  });

  const thaw = () => {
    for (const pid of frozen) signal(pid, 'SIGCONT');
    frozen = [];
  };

  it('loses its tasks; attempt 2 runs elsewhere, and late results change nothing', async () => {
    const [ann] = (await home.ready(['cold-ann'])) as [Agent];
    const command = 'echo "$AGENTISO_ATTEMPT" >> starts; if [ "$AGENTISO_ATTEMPT" = 1 ]; then sleep 1; echo late; else echo in time; fi';
    await home.create('Task', 'cold-think', { team: 'cold', prompt: 'think', assignTo: 'ann' });
    await vi.waitFor(async () => expect((await home.task('cold-think')).status?.reason).toBe('OpenForClaim'));
    expect(await home.inside('cold-ann', 'team', 'claim', 'think')).toContain('think');
    await home.create('Task', 'cold-work', { team: 'cold', assignTo: 'ann', command: `until [ -e go ]; do sleep 0.05; done; ${command}` });
    await home.reached('cold-work', 'Running');
    frozen = treeOf(ann.status?.pid ?? 0);
    expect(frozen.length).toBeGreaterThan(0);
    for (const pid of frozen) signal(pid, 'SIGSTOP');
    // Whoever else there is may have them now.
    await home.change('tasks', 'cold-think', { assignTo: null });
    await vi.waitFor(async () => {
      for (const name of ['cold-think', 'cold-work']) {
        const { status } = await home.task(name);
        expect([status?.owner, status?.notes?.at(0)?.text], JSON.stringify(status)).not.toEqual(['cold-ann', undefined]);
      }
    }, LOST);
    for (const name of ['cold-think', 'cold-work']) {
      const { status } = await home.task(name);
      expect(status?.notes?.[0]?.text).toMatch(/^LeaseExpired: attempt 1 of 3 was given up/);
    }
    await home.change('tasks', 'cold-work', { assignTo: 'bob' });
    await home.reached('cold-work', 'Running');
    const [bob] = (await home.ready(['cold-bob'])) as [Agent];
    await home.inside('cold-bob', 'touch', 'go');
    const done = await home.reached('cold-work', 'Succeeded');
    expect(done.status).toMatchObject({ attempt: 2, fencingToken: 2, owner: bob.metadata.name, result: { stdout: 'in time\n' } });
    expect(await home.inside('cold-bob', 'team', 'claim', 'think')).toContain('think');
    const held = await home.task('cold-think');
    expect(held.status).toMatchObject({ owner: 'cold-bob', attempt: 2, fencingToken: 2 });
    thaw();
    // It was ended when it gave no sign of life; its next run finds what it had begun, and may say nothing about it.
    await home.ready(['cold-ann'], ({ status }) => status?.incarnation !== ann.status?.incarnation);
    const late = await home.startCli('exec', 'cold-ann', '--', 'team', 'done', 'think', 'late').result;
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('not yours any more: cold-bob has it, attempt 2')]);
    expect(await home.task('cold-think')).toEqual(held);
    expect(await home.inside('cold-bob', 'team', 'done', 'think', 'in', 'time')).not.toBe('');
    expect((await home.task('cold-think')).status).toMatchObject({ phase: 'Succeeded', owner: 'cold-bob', result: { stdout: 'in time' } });
    expect((await home.task('cold-work')).status).toEqual(done.status);
  });
});

describe('a daemon that was stopped for longer than a lease', () => {
  it('takes nothing from agents that it could not hear', async () => {
    await delay(Math.max(0, stoppedMs + STOPPED_MS - performance.now()));
    process.kill(other.pid, 'SIGCONT');
    await other.inside('calm-cat', 'touch', 'go');
    const { status } = await other.reached('calm-work', 'Succeeded');
    expect(status).toMatchObject({ attempt: 1, result: { stdout: '1\n' } });
    expect((await other.task('calm-think')).status).toMatchObject({ phase: 'Claimed', attempt: 1, owner: 'calm-cat' });
    expect(await other.inside('calm-cat', 'team', 'done', 'think', 'well')).not.toBe('');
    expect((await other.task('calm-think')).status).toMatchObject({ phase: 'Succeeded', attempt: 1, result: { stdout: 'well' } });
    const [cat] = (await other.ready(['calm-cat'])) as [Agent];
    expect(cat.status?.restarts ?? 0).toBe(0);
    expect(await other.events('LeaseExpired')).toEqual([]);
  });
});

/** The process and all that it has begun, by what the kernel says of their parents. */
function treeOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  const tree = [root];
  for (const pid of tree) for (const [child, parent] of parents) if (parent === pid) tree.push(child);
  return tree;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Ended by its daemon, which is its right.
  }
}
