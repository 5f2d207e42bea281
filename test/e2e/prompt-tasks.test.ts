/** Prompts that run: a team of two coding agents in real sandboxes, on the real protocol, without a model. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Task } from '#api/types.ts';
import { bundleAcpAgent, script } from '../support/acp-agent/bundle.ts';
import { AgentsHome, WAIT, withSandboxes } from '../support/agents-home.ts';

withSandboxes('a task with a prompt', () => {
  const home = new AgentsHome();
  beforeAll(async () => {
    const tools = join(home.folder, 'tools');
    mkdirSync(join(tools, 'acp'), { recursive: true });
    await bundleAcpAgent(join(tools, 'acp'));
    const agent = { argv: ['node', '/opt/agentiso/tools/acp/acp-agent.cjs'], env: {}, mode: 'free' };
    writeFileSync(join(tools, 'acp', 'agent.json'), JSON.stringify(agent));
    await home.start([], { AGENTISO_TOOLS: tools });
    await home.create('Team', 'try', {
      isolation: { driver: 'sandbox' },
      roles: [{ name: 'ann', backend: 'acp' }, { name: 'bob', backend: 'acp' }, { name: 'cid' }],
    });
    await home.ready(['try-ann', 'try-bob', 'try-cid']);
  });
  afterAll(() => home.close());

  const create = (name: string, spec: object) => home.create('Task', `try-${name}`, { team: 'try', maxAttempts: 1, assignTo: 'ann', ...spec });
  const exists = (agent: string, path: string) =>
    vi.waitFor(async () => expect(await home.inside(agent, 'ls', path)).toContain(path), WAIT);
  const resultOf = ({ status }: Task) => status?.result;

  it('is done by the agent, with the tools of its team and the words of those before it', async () => {
    const { code } = await home.cli('message', 'try/ann', 'mind the gap');
    expect(code).toBe(0);
    await create('first', { assignTo: 'cid', command: 'echo forty-two' });
    const steps = [
      { op: 'write', path: 'answer.txt', content: '42' },
      { op: 'mcp', tool: 'send_message', args: { to: 'bob', content: 'it is done' } },
      { op: 'usage', used: 500, costUsd: 0.5 },
      { op: 'say', text: 'The answer is written.' },
    ];
    await create('ask', { dependsOn: ['first'], title: 'Find it', acceptanceCriteria: ['answer.txt is there'], prompt: script(...steps) });
    const task = await home.reached('try-ask', 'Succeeded');
    expect(resultOf(task)).toMatchObject({
      exitCode: 0,
      stdout: 'The answer is written.',
      stopReason: 'end_turn',
      evidence: { toolCalls: 2, filesChanged: 1 },
      usage: { inputTokens: 100, outputTokens: 20, costUsd: 0.5, contextTokens: 500 },
    });
    expect(await home.inside('try-ann', 'cat', 'answer.txt')).toBe('42');
    const [prompt] = await transcriptOf('try-ask');
    expect(prompt?.text).toMatch(/^--- Messages from other agents ---\n\[orchestrator -> you\] mind the gap\n--- End messages ---\n/);
    expect(prompt?.text).toContain('--- Output from "first" ---\nforty-two\n--- End ---\n\nTask ask: Find it\n\ndo this\n');
    expect(prompt?.text).toContain('Done means:\n- answer.txt is there');
    expect((await home.cli('messages', 'try/ann')).stdout).toMatch(/Seen .*mind the gap/);
    expect((await home.cli('messages', 'try/bob')).stdout).toContain('it is done');
  });

  async function transcriptOf(task: string): Promise<{ readonly type: string; readonly text: string }[]> {
    const { code, stdout, stderr } = await home.cli('transcript', task, '-o', 'json');
    expect([code, stderr]).toEqual([0, '']);
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }
});
