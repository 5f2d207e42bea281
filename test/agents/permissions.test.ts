/** An agent that has to ask: what a rule denies does not happen, what one allows does. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { backendNamed } from '#backends/all-backends.ts';
import { withSandboxes } from '../support/agents-home.ts';
import { CodingAgents, installAgents, roleOf, testedBackends } from '../support/coding-agents.ts';
import { inlineScript } from '../support/scripted-model/script.ts';

/** Codex does not ask in a sandbox, and is not started with rules. */
const ASKING = testedBackends.filter((name) => backendNamed(name).acp?.canAsk);
const permissions = { rules: [{ action: 'deny', command: '*forbidden*' }, { action: 'allow' }] };

withSandboxes('coding agents that ask first', () => {
  const lab = new CodingAgents();
  beforeAll(async () => {
    await installAgents(ASKING);
    await lab.start();
    await lab.at.create('Team', 'asking', { roles: ASKING.map((backend) => ({ ...roleOf(backend, backend), permissions })) });
  }, 600_000);
  afterAll(() => lab.close(expect.anything()));

  /** Some agents end their turn when they are refused something, so each thing is tried in a task of its own. */
  it.each(ASKING)('%s does what it may and not what it may not', async (backend) => {
    const attempt = async (name: string, command: string) => {
      const prompt = inlineScript([
        { op: 'shell', command },
        { op: 'text', text: 'tried' },
      ]);
      await lab.at.create('Task', `asking-${backend}-${name}`, { team: 'asking', assignTo: backend, prompt, maxAttempts: 1 });
      return lab.ended(`asking-${backend}-${name}`);
    };
    await attempt('may', 'touch /workspace/fine');
    const { status } = await attempt('may-not', 'touch /workspace/forbidden');
    const { stdout } = await lab.at.cli('transcript', `asking-${backend}-may-not`);
    expect(await lab.at.inside(`asking-${backend}`, 'ls', '/workspace'), `${JSON.stringify(status)} ${stdout}`).toBe('fine\n');
  });
});
