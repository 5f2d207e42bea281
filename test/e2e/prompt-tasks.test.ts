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
    mkdirSync(join(tools(), 'acp'), { recursive: true });
    await bundleAcpAgent(join(tools(), 'acp'));
    const agent = { argv: ['node', '/opt/agentiso/tools/acp/acp-agent.cjs'], env: {}, mode: 'free', readyAfterMs: 0 };
    writeFileSync(join(tools(), 'acp', 'agent.json'), JSON.stringify(agent));
    await home.start([], { AGENTISO_TOOLS: tools() });
    await home.create('Team', 'try', {
      isolation: { driver: 'sandbox' },
      roles: [{ name: 'ann', backend: 'acp' }, { name: 'bob', backend: 'acp' }, { name: 'cid' }],
    });
    await home.ready(['try-ann', 'try-bob', 'try-cid']);
  });
  afterAll(() => home.close());

  const create = (name: string, spec: object) =>
    home.create('Task', `try-${name}`, { team: 'try', maxAttempts: 1, assignTo: 'ann', ...spec });
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

  it('goes on while the daemon is killed and comes back, is done once, and can be followed', async () => {
    const steps = [
      { op: 'run', command: 'echo x >> starts' },
      { op: 'say', text: 'waiting' },
      { op: 'until', path: 'go' },
      { op: 'say', text: ' and done' },
    ];
    await create('long', { prompt: script(...steps) });
    await inWorkspace('try-ann', 'starts');
    await home.kill();
    await home.start([], { AGENTISO_TOOLS: tools() });
    await home.ready(['try-ann']);
    const following = home.startCli('transcript', 'try-long', '-f');
    await following.said('[tool] run: completed');
    await home.inside('try-ann', 'touch', 'go');
    const { status } = await home.reached('try-long', 'Succeeded');
    expect([status?.attempt, status?.result?.stdout]).toEqual([1, 'waiting and done']);
    expect(await home.inside('try-ann', 'cat', 'starts')).toBe('x\n');
    const { code, stdout } = await following.result;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\[end\] end_turn\n$/)]);
    expect((await home.cli('logs', 'try-ann')).stdout).toContain('waiting and done');
  });

  it('that is cancelled leaves nothing of its agent behind', async () => {
    await create('endless', { prompt: script({ op: 'run', command: 'touch begun' }, { op: 'hang' }) });
    await inWorkspace('try-ann', 'begun');
    expect((await home.cli('cancel', 'try-endless')).code).toBe(0);
    expect((await home.reached('try-endless', 'Failed')).status?.reason).toBe('Cancelled');
    const processes = await home.inside('try-ann', 'sh', '-c', 'cat /proc/[0-9]*/cmdline | tr "\\0" " "');
    expect(processes).not.toMatch(/acp-agent\.cjs|node \/run\/prompt-runner/);
  });

  it('of an agent that crashes, does nothing, or must not go on has failed, and says why', async () => {
    await create('crash', { prompt: script({ op: 'crash', message: 'out of ideas' }) });
    await create('idle', { assignTo: 'bob', prompt: script({ op: 'say', text: 'All done!' }) });
    await create('slow', { assignTo: 'bob', timeoutSeconds: 5, prompt: script({ op: 'usage', used: 7, costUsd: 1 }, { op: 'hang' }) });
    const [crash, idle, slow] = await Promise.all(['crash', 'idle', 'slow'].map((name) => home.reached(`try-${name}`, 'Failed')));
    expect(readyMessage(crash)).toContain('AgentCrashed: it exited with 7 during session/prompt: out of ideas');
    expect(readyMessage(idle)).toContain('NoEvidence: it says that it is done, but called no tool and changed no file');
    expect(readyMessage(slow)).toContain('timed out after 5 s');
    expect(slow?.status?.result?.usage).toMatchObject({ costUsd: 1 });
  });

  it('waits until its provider wants more, without losing an attempt', async () => {
    const limited = `API Error: 429 rate limit, resets at ${new Date(Date.now() + 5_000).toISOString()}`;
    // The second time the file is there, and there is something to do.
    const steps = [
      { op: 'run', command: 'if [ -e tried ]; then touch again; else touch tried; fi' },
      { op: 'failUntil', path: 'again', message: 'Internal error', data: limited },
    ];
    await create('limited', { prompt: script(...steps) });
    const waiting = await vi.waitFor(async () => {
      const task = await home.task('try-limited');
      expect(task.status?.reason).toBe('RateLimited');
      return task;
    }, WAIT);
    expect([waiting.status?.phase, waiting.status?.failures ?? 0]).toEqual(['Pending', 0]);
    expect(limited).toContain(waiting.status?.notBefore);
    const { status } = await home.reached('try-limited', 'Succeeded');
    expect([status?.attempt, status?.failures ?? 0]).toEqual([2, 0]);
    expect(Date.parse(status?.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(waiting.status?.notBefore ?? ''));
  });

  it('goes to nobody who only has a shell, and waits to be claimed where there are no others', async () => {
    await create('open', { assignTo: 'cid', prompt: 'whoever wants' });
    await vi.waitFor(async () => expect((await home.task('try-open')).status?.reason).toBe('OpenForClaim'), WAIT);
  });

  const tools = () => join(home.folder, 'tools');
  const readyMessage = (task: Task | undefined) => task?.status?.conditions?.find(({ type }) => type === 'Ready')?.message;
  const inWorkspace = (agent: string, path: string) =>
    vi.waitFor(async () => expect((await home.startCli('exec', agent, '--', 'ls', path).result).code).toBe(0), WAIT);

  async function transcriptOf(task: string): Promise<{ readonly type: string; readonly text: string }[]> {
    const { code, stdout, stderr } = await home.cli('transcript', task, '-o', 'json');
    expect([code, stderr]).toEqual([0, '']);
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }
});
