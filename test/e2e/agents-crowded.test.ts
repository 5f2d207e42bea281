/** A sandbox that sits at its limit of processes: nothing in it fails for good, nothing goes on, and somebody has to say why. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { AgentsHome, conditionOf, withSandboxes } from '../support/agents-home.ts';

/** Looked at every 30 s at least, on a machine that may be busy. */
const SAID = { timeout: 100_000, interval: 200 };

withSandboxes('an agent at its limit of processes', () => {
  const home = new AgentsHome();
  beforeAll(async () => {
    await home.start();
    await home.create('Team', 'full', { isolation: { driver: 'sandbox' }, roles: [{ name: 'ann' }] });
    await home.ready(['full-ann']);
  });
  afterAll(() => home.close(expect.any(String)));

  it('says so, and why says which limit it is', async () => {
    const command = "sleep 600 & last=$!; sh -c 'while :; do sleep 600 & done'; wait $last";
    await home.create('Task', 'full-work', { team: 'full', command });
    await home.reached('full-work', 'Running');
    await vi.waitFor(async () => expect(conditionOf(await home.agent('full-ann'), 'ProcessLimit')).toMatch(/^True WorkspaceFull/), SAID);
    const { stdout } = await home.cli('why', 'task/full-work');
    expect(stdout).toContain('its workspace has reached its limit of 512 processes and threads (pids.max)');
    expect(stdout).toContain('let its tasks run fewer than 512 processes and threads at once');
    await home.delete('tasks', 'full-work');
    await vi.waitFor(async () => expect(conditionOf(await home.agent('full-ann'), 'ProcessLimit')).toMatch(/^False HasRoom/), SAID);
  });
});
