/** What a guest that is killed leaves running: nothing of it runs on when its agent is said to have ended, for then others begin with its tasks. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { AgentsHome, conditionOf, WAIT } from '../support/agents-home.ts';
import { isPidAlive } from '../support/pid.ts';

const home = new AgentsHome();
beforeAll(async () => {
  await home.start();
  await home.create('Team', 'left', { isolation: { driver: 'process' }, roles: [{ name: 'ann', restartPolicy: 'Never' }] });
});
afterAll(() => home.close(expect.any(String)));

it('ends the command of a killed guest before the agent is said to have exited', async () => {
  const [ann] = await home.ready(['left-ann']);
  const place = join(home.folder, 'pid');
  await home.create('Task', 'left-work', { team: 'left', command: `echo $$ > ${place}; while :; do sleep 0.05; done` });
  const pid = await vi.waitFor(() => {
    const found = Number(readFileSync(place, 'utf8'));
    expect(found).toBeGreaterThan(0);
    return found;
  }, WAIT);
  expect(isPidAlive(pid)).toBe(true);
  process.kill(ann?.status?.pid ?? 0, 'SIGKILL');
  await vi.waitFor(async () => expect(conditionOf(await home.agent('left-ann'), 'WorkspaceReady')).toMatch(/^False Exited/), WAIT);
  expect(isPidAlive(pid)).toBe(false);
});
