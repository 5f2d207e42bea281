/** What happens around real coding agents: mates of another kind, people who cancel, daemons that die, providers that refuse, agents that crash. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { withSandboxes } from '../support/agents-home.ts';
import { CodingAgents, installAgents, roleOf, SECRET_KEY, testedBackends } from '../support/coding-agents.ts';
import { inlineScript, type Step } from '../support/scripted-model/script.ts';
import { keyIn } from '../support/scripted-model/scripted-model.ts';

const AGENTS = testedBackends.map((backend, at) => ({ backend, mate: testedBackends[(at + 1) % testedBackends.length] ?? backend }));
const WAIT = { timeout: 60_000, interval: 100 };

withSandboxes('coding agents in a team', () => {
  const lab = new CodingAgents();
  beforeAll(async () => {
    await installAgents(testedBackends);
    await lab.start();
    await lab.at.create('Team', 'mixed', { roles: testedBackends.map((backend) => roleOf(backend, backend)) });
  }, 600_000);
  afterAll(() => lab.close(expect.anything()));

  const give = (name: string, backend: string, steps: readonly Step[], more: object = {}) =>
    lab.at.create('Task', `mixed-${name}`, { team: 'mixed', assignTo: backend, prompt: inlineScript(steps), maxAttempts: 1, ...more });
  const agentProcesses = async (backend: string) =>
    (await lab.at.inside(`mixed-${backend}`, 'sh', '-c', 'cat /proc/[0-9]*/cmdline | tr "\\0" " "')).split('/opt/agentiso/tools/').length -
    1;
  /** The model has been asked for this step of a script that has this word in it. */
  const asked = (word: string, step: number) =>
    vi.waitFor(() => expect(lab.model.hits.some((hit) => hit.step === step && hit.body.includes(word))).toBe(true), WAIT);

  it.each(AGENTS)('$backend writes to $mate, which finds the message in front of its prompt and answers', async ({ backend, mate }) => {
    const word = `hello-from-${backend}`;
    await give(`ask-${backend}`, backend, [
      { op: 'mcp', tool: 'send_message', args: { to: mate, content: word } },
      { op: 'text', text: 'asked' },
    ]);
    await lab.ended(`mixed-ask-${backend}`);
    await give(`answer-${backend}`, mate, [
      { op: 'mcp', tool: 'send_message', args: { to: backend, content: `answer-to-${word}` } },
      { op: 'text', text: 'answered' },
    ]);
    await lab.ended(`mixed-answer-${backend}`);
    const prompted = lab.model.hits.find(({ body }) => body.includes(`answer-to-${word}`));
    expect(prompted?.body).toMatch(new RegExp(`--- Messages from other agents ---.*${word}.*--- End messages ---`));
    const { stdout } = await lab.at.cli('messages', 'mixed');
    expect(stdout).toContain(`answer-to-${word}`);
  });

  describe.each(testedBackends)('%s', (backend) => {
    it('is ended whole when its task is cancelled', async () => {
      const word = `never-${backend}`;
      await give(`cancel-${backend}`, backend, [{ op: 'text', text: word, delayMs: 600_000 }]);
      await asked(word, 0);
      expect(await agentProcesses(backend)).toBeGreaterThan(0);
      await lab.at.cli('cancel', `mixed-cancel-${backend}`);
      const { status } = await lab.ended(`mixed-cancel-${backend}`, 'Failed');
      expect(JSON.stringify(status)).toContain('Cancelled');
      await vi.waitFor(async () => expect(await agentProcesses(backend)).toBe(0), WAIT);
    });

    it('goes on where it was when the daemon is killed and comes back', async () => {
      const name = `restart-${backend}`;
      const mark = `/workspace/${name}`;
      await give(name, backend, [
        { op: 'shell', command: `echo begun >> ${mark}; while [ ! -e ${mark}.go ]; do sleep 0.1; done; echo ended >> ${mark}` },
        { op: 'text', text: `${name} is done` },
      ]);
      await vi.waitFor(async () => expect(await lab.at.inside(`mixed-${backend}`, 'cat', mark)).toBe('begun\n'), WAIT);
      await lab.at.kill();
      await lab.startDaemon();
      await lab.at.inside(`mixed-${backend}`, 'touch', `${mark}.go`);
      const { status } = await lab.ended(`mixed-${name}`);
      expect(status).toMatchObject({ attempt: 1, result: { stdout: expect.stringContaining(`${name} is done`) } });
      expect(await lab.at.inside(`mixed-${backend}`, 'cat', mark)).toBe('begun\nended\n');
    });

    it('does its task after a provider that wants no more has changed its mind, and no attempt is lost', async () => {
      const name = `limited-${backend}`;
      const untilMs = Date.now() + 10_000;
      await give(name, backend, [
        { op: 'shell', command: `echo once >> /workspace/${name}`, status: 429, untilMs },
        { op: 'text', text: `${name} is done` },
      ]);
      const { status } = await lab.ended(`mixed-${name}`);
      expect(status).toMatchObject({ result: { stdout: expect.stringContaining(`${name} is done`) } });
      expect(status?.failures ?? 0).toBe(0);
      expect(Date.now()).toBeGreaterThanOrEqual(untilMs);
      expect(await lab.at.inside(`mixed-${backend}`, 'cat', `/workspace/${name}`)).toBe('once\n');
    });

    it('is tried again when it crashes', async () => {
      const name = `crash-${backend}`;
      // Whatever lies between the agent and its shell. The brackets keep this very command out of it; Gemini CLI runs no command with $(…) in it.
      const kill = 'cd /proc; for p in [0-9]*; do grep -aqs "/opt/agentiso/tool[s]/" $p/cmdline && kill -9 $p; done';
      const command = `test -e /workspace/${name} || { touch /workspace/${name}; ${kill}; sleep 1; }`;
      await give(
        name,
        backend,
        [
          { op: 'shell', command },
          { op: 'text', text: `${name} is done` },
        ],
        { maxAttempts: 2 },
      );
      const { status } = await lab.ended(`mixed-${name}`);
      expect(status).toMatchObject({ result: { stdout: expect.stringContaining(`${name} is done`) } });
      expect(lab.model.hits.filter(({ step, body }) => step === 0 && body.includes(`${name} is done`)).length).toBeGreaterThan(1);
    });
  });

  it('has used a key that is nowhere in the workspaces, nor in anything that the daemon has written', async () => {
    const answered = lab.model.hits.filter(({ step }) => step !== undefined);
    expect(answered.length).toBeGreaterThan(testedBackends.length);
    expect(answered.filter(({ headers }) => keyIn(headers) !== SECRET_KEY)).toEqual([]);
    for (const backend of testedBackends) {
      const seen = await lab.at.inside(`mixed-${backend}`, 'sh', '-c', 'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2> /dev/null; true');
      expect(seen).toContain('AGENTISO_TOOLS');
      expect(seen).not.toContain(SECRET_KEY);
    }
    const holding = filesBelow(lab.at.home).filter((path) => readFileSync(path).includes(SECRET_KEY));
    expect(holding).toEqual([join(lab.at.home, 'credentials.yaml')]);
  });
});

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}
