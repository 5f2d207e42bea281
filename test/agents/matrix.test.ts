/** Every coding agent, in a session and in one shot: the team's tool is really called, the file really written, the command really run. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withSandboxes } from '../support/agents-home.ts';
import { CodingAgents, installAgents, roleOf, testedBackends } from '../support/coding-agents.ts';
import { inlineScript } from '../support/scripted-model/script.ts';

const MODES = { session: 'Session', 'one-shot': 'OneShot' } as const;

withSandboxes('coding agents', () => {
  const lab = new CodingAgents();
  beforeAll(async () => {
    await installAgents(testedBackends);
    await lab.start();
  }, 600_000);
  afterAll(() => lab.close(expect.anything()));

  describe.each(testedBackends)('%s', (backend) => {
    const team = `t-${backend}`;
    beforeAll(() => lab.at.create('Team', team, { roles: [roleOf('dev', backend)] }));
    afterAll(() => lab.at.delete('teams', team));

    it.each(Object.entries(MODES))('does what its model says, in a %s', async (word, promptMode) => {
      const name = `${team}-${word}`;
      const prompt = inlineScript([
        { op: 'mcp', tool: 'vault_write', args: { path: `teams/${team}/notes/${word}.md`, content: `from ${backend}` } },
        { op: 'write', path: `/workspace/${word}.txt`, content: `${word}\n` },
        { op: 'shell', command: `id -un > /workspace/${word}.user` },
        { op: 'text', text: `${backend} has done it.` },
      ]);
      await lab.at.create('Task', name, { team, prompt, promptMode, maxAttempts: 1 });
      const task = await lab.ended(name);
      expect(task.status?.result?.stdout).toContain(`${backend} has done it.`);
      // Some look for a tool, or at a file, first.
      expect(task.status?.result?.evidence?.toolCalls).toBeGreaterThanOrEqual(3);
      expect(await lab.at.inside(`${team}-dev`, 'cat', `/workspace/${word}.txt`, `/workspace/${word}.user`)).toBe(`${word}\nagent\n`);
      expect((await lab.at.cli('vault', 'cat', `teams/${team}/notes/${word}.md`)).stdout).toContain(`from ${backend}`);
    });

    it('is not believed when one shot has left no trace', async () => {
      const name = `${team}-idle`;
      const prompt = inlineScript([{ op: 'text', text: 'It is all done.' }]);
      await lab.at.create('Task', name, { team, prompt, promptMode: 'OneShot', maxAttempts: 1 });
      const { status } = await lab.ended(name, 'Failed');
      expect(status?.result).toMatchObject({
        stdout: expect.stringContaining('It is all done.'),
        evidence: { toolCalls: 0, filesChanged: 0 },
      });
      expect(status?.conditions?.find(({ type }) => type === 'Ready')?.message).toContain('NoEvidence');
    });
  });
});
