/** What a command starts beside its own group stands still with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { afterEach, expect, it, vi } from 'vitest';
import { Freezer, PausableTimer } from '../freezer.ts';
import { ProcessGroups } from '../process-group.ts';
import { ToldGroups } from './told-groups.ts';

const started: ChildProcess[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, 'exit');
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await ended;
  }
});

function start(): number {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  started.push(child);
  return child.pid ?? 0;
}
/** T: stopped. S: asleep, and would go on. */
const stateOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0];
const reaches = (pid: number, state: string) => vi.waitFor(() => expect(stateOf(pid)).toBe(state));

it('stops the groups it was told of, lets them go on, and kills what is left at the end', async () => {
  const [own, other] = [start(), start()];
  const told = new PassThrough();
  const groups = new ToldGroups(new ProcessGroups(), told);
  told.write(`+${other}\n`);
  await vi.waitFor(() => expect(groups.families).toEqual([{ kind: 'group', id: other }]));
  const freezer = new Freezer();
  const timer = new PausableTimer(Number.POSITIVE_INFINITY, () => {});
  freezer.hold({ families: () => [{ kind: 'group', id: own }], timer });
  freezer.include(() => groups.families);
  freezer.set(true);
  await Promise.all([reaches(own, 'T'), reaches(other, 'T')]);
  freezer.set(false);
  await Promise.all([reaches(own, 'S'), reaches(other, 'S')]);
  freezer.set(true);
  await reaches(other, 'T');
  // Whoever is to end must be able to.
  freezer.release();
  await Promise.all([reaches(own, 'S'), reaches(other, 'S')]);
  told.destroy();
  const ended = once(started[1] as ChildProcess, 'exit');
  await groups.end();
  expect((await ended)[1]).toBe('SIGKILL');
});
