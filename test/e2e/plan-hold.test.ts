/** An agent that plans cannot write to its workspace before the plan is approved, where the driver can see to that. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { AgentsHome, conditionOf, WAIT, withSandboxes } from '../support/agents-home.ts';

withSandboxes('an agent that plans', () => {
  const home = new AgentsHome();
  beforeAll(async () => {
    await home.start();
    await home.create('Team', 'lab', { isolation: { driver: 'sandbox' }, roles: [{ name: 'ann' }, { name: 'two' }] });
    await home.create('Team', 'plain', { isolation: { driver: 'process' }, roles: [{ name: 'bob' }] });
    await home.ready(['lab-ann', 'lab-two', 'plain-bob']);
  });
  afterAll(() => home.close());

  const sh = (agent: string, script: string) => home.inside(agent, 'sh', '-c', script);
  const create = (name: string, assignTo: string, more: object = {}) =>
    home.create('Task', name, { team: name.split('-')[0], assignTo, planRequired: true, command: 'echo worked >> work', ...more });
  const enforced = (name: string, wanted: boolean) =>
    vi.waitFor(async () => expect((await home.task(name)).status?.plan?.enforced).toBe(wanted), WAIT);
  const works = async (...args: readonly string[]) => expect(await home.cli(...args)).toMatchObject({ code: 0, stderr: '' });
  const TRY = 'echo early > early && echo written || echo refused; ls';

  it('reads its workspace and writes elsewhere, also after the daemon was killed, and works once it may', async () => {
    await sh('lab-ann', 'echo before > f');
    await create('lab-first', 'ann');
    await enforced('lab-first', true);
    expect(conditionOf(await home.agent('lab-ann'), 'PlanHold')).toBe('True PlanPhase');
    expect(await sh('lab-ann', `cat f; echo note > ~/note; echo t > /tmp/t; { ${TRY}; } 2>/dev/null`)).toBe('before\nrefused\nf\n');
    // What bubblewrap has set stays set.
    expect(await sh('lab-ann', "grep ' /workspace ' /proc/self/mountinfo | cut -d' ' -f6")).toMatch(/^ro,nosuid,nodev,/);
    await home.kill();
    await home.start();
    await home.ready(['lab-ann']);
    expect(await sh('lab-ann', `{ ${TRY}; } 2>/dev/null; team plan first 'I will append a line'`)).toMatch(/^refused\nf\n/);
    await works('refuse', 'lab-first', '--feedback', 'which line?');
    await vi.waitFor(async () => expect(await sh('lab-ann', "team plan first 'the line worked'")).toContain('2'), WAIT);
    expect(await sh('lab-ann', `{ ${TRY}; } 2>/dev/null`)).toBe('refused\nf\n');
    await works('approve', 'lab-first');
    await home.reached('lab-first', 'Succeeded');
    expect(await sh('lab-ann', 'cat work; echo late > late && ls')).toBe('worked\nf\nlate\nwork\n');
    expect(conditionOf(await home.agent('lab-ann'), 'PlanHold')).toBe('absent');
    expect((await home.task('lab-first')).status).toMatchObject({ attempt: 1, plan: { round: 2, enforced: true } });
    expect(await sh('lab-ann', "grep ' /workspace ' /proc/self/mountinfo | cut -d' ' -f6")).toMatch(/^rw,nosuid,nodev,/);
  });

  it('is let go for another task, held again after that, and let go when the task is cancelled', async () => {
    await create('lab-second', 'ann');
    await enforced('lab-second', true);
    await home.create('Task', 'lab-next', { team: 'lab', assignTo: 'ann', command: 'echo next > next' });
    await home.reached('lab-next', 'Succeeded');
    await home.create('Task', 'lab-open', { team: 'lab', prompt: 'write a file' });
    await vi.waitFor(async () => expect(conditionOf(await home.agent('lab-ann'), 'PlanHold')).toBe('True PlanPhase'), WAIT);
    // Who has claimed one itself can write as soon as it hears that it has it.
    expect(
      await sh('lab-ann', 'team claim open > /dev/null && echo claimed > claimed && team done open > /dev/null && cat next claimed'),
    ).toBe('next\nclaimed\n');
    await home.reached('lab-open', 'Succeeded');
    await vi.waitFor(async () => expect(conditionOf(await home.agent('lab-ann'), 'PlanHold')).toBe('True PlanPhase'), WAIT);
    await home.change('tasks', 'lab-second', { cancelled: true });
    await vi.waitFor(async () => expect(await sh('lab-ann', `{ ${TRY}; } 2>/dev/null`)).toMatch(/^written\n/), WAIT);
    expect(conditionOf(await home.agent('lab-ann'), 'PlanHold')).toBe('absent');
  });

  it('is not held while a file is open for writing, says so, and is held when it is closed', async () => {
    await sh(
      'lab-ann',
      'setsid sh -c "exec 3>open; until [ -e /tmp/close ]; do sleep 0.05; done" > /dev/null 2>&1 < /dev/null & until [ -e open ]; do sleep 0.05; done',
    );
    await create('lab-third', 'ann');
    await enforced('lab-third', false);
    expect(conditionOf(await home.agent('lab-ann'), 'PlanHold')).toBe('Unknown FilesOpen');
    await sh('lab-ann', 'touch /tmp/close');
    await vi.waitFor(async () => expect(conditionOf(await home.agent('lab-ann'), 'PlanHold')).toBe('True PlanPhase'), WAIT);
    expect(await sh('lab-ann', `{ ${TRY}; } 2>/dev/null`)).toMatch(/^refused\n/);
    await enforced('lab-third', true);
    await home.delete('tasks', 'lab-third');
    await vi.waitFor(async () => expect(await sh('lab-ann', `{ ${TRY}; } 2>/dev/null`)).toMatch(/^written\n/), WAIT);
  });

  it('is not held where it shares its files with another task, or where the driver cannot do it, and the task says so', async () => {
    await home.create('Task', 'lab-beside', {
      team: 'lab',
      assignTo: 'two',
      command: 'until [ -e go ]; do sleep 0.05; done; echo beside > beside',
    });
    await home.reached('lab-beside', 'Running');
    await create('lab-shared', 'two');
    await create('plain-open', 'bob');
    for (const [task, agent, why] of [
      ['lab-shared', 'lab-two', 'SharedWorkspace'],
      ['plain-open', 'plain-bob', 'Unsupported'],
    ] as const) {
      await enforced(task, false);
      expect(conditionOf(await home.agent(agent), 'PlanHold')).toBe(`False ${why}`);
      expect(await sh(agent, `{ ${TRY}; } 2>/dev/null`)).toMatch(/^written\n/);
    }
    await sh('lab-two', 'touch go');
    await home.reached('lab-beside', 'Succeeded');
    // From then on the files are the plan's alone.
    await vi.waitFor(async () => expect(conditionOf(await home.agent('lab-two'), 'PlanHold')).toBe('True PlanPhase'), WAIT);
    await sh('plain-bob', "team plan open 'as asked'");
    await works('approve', 'plain-open');
    await home.reached('plain-open', 'Succeeded');
  });
});
