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

  it.each(ASKING)('%s does what it may and not what it may not', async (backend) => {
    const prompt = inlineScript([
      { op: 'shell', command: 'touch /workspace/forbidden' },
      { op: 'shell', command: 'touch /workspace/fine' },
      { op: 'mcp', tool: 'list_agents' },
      { op: 'text', text: 'tried both' },
    ]);
    await lab.at.create('Task', `asking-${backend}-try`, { team: 'asking', assignTo: backend, prompt, maxAttempts: 1 });
    const { status } = await lab.ended(`asking-${backend}-try`);
    expect(await lab.at.inside(`asking-${backend}`, 'ls', '/workspace'), JSON.stringify(status)).toBe('fine\n');
  });
});
