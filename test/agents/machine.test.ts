/** A coding agent in a machine of its own: its program on a disk of tools, its model behind the daemon, what it wrote on the machine's disk. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CodingAgents, installAgents, roleOf, SECRET_KEY } from '../support/coding-agents.ts';
import { machinesHere, testImagesDirectory } from '../support/machines.ts';
import { requires } from '../support/requirements.ts';
import { inlineScript } from '../support/scripted-model/script.ts';

const here = await machinesHere();
const TEST_MS = 600_000;
const WAIT = { timeout: TEST_MS, interval: 500 };
/** The one whose start costs an emulated processor least: a single program, and no JavaScript. */
const BACKEND = 'codex';

requires(here.support !== undefined, `virtual machines: ${here.reason}`)('a coding agent in a machine', () => {
  const lab = new CodingAgents({ AGENTISO_IMAGES: testImagesDirectory() });
  beforeAll(async () => {
    await installAgents([BACKEND]);
    await lab.start();
  }, TEST_MS);
  afterAll(() => lab.close(expect.anything()), TEST_MS);

  it(
    'does what its model says, and never sees the key',
    async () => {
      await lab.at.create('Team', 'cell', { isolation: { driver: 'vm' }, roles: [roleOf('dev', BACKEND)] });
      const prompt = inlineScript([
        { op: 'write', path: '/workspace/written.txt', content: 'by the agent\n' },
        { op: 'shell', command: 'uname -n > /workspace/where.txt; env > /workspace/environment.txt' },
        { op: 'text', text: 'It is done.' },
      ]);
      await lab.at.create('Task', 'job', { team: 'cell', prompt, promptMode: 'OneShot', maxAttempts: 1, timeoutSeconds: 500 });
      const task = await lab.ended('job', 'Succeeded', WAIT);
      expect(task.status?.result?.stdout).toContain('It is done.');
      const [written, where, ...environment] = (
        await lab.at.inside('cell-dev', 'cat', '/workspace/written.txt', '/workspace/where.txt', '/workspace/environment.txt')
      ).split('\n');
      expect([written, where]).toEqual(['by the agent', 'cell-dev']);
      expect(environment.join('\n')).not.toContain(SECRET_KEY);
      expect(await lab.at.inside('cell-dev', 'sh', '-c', 'ls /opt/agentiso/tools; touch /opt/agentiso/tools/x 2>&1 || true')).toMatch(
        /^codex@\S+\n(lost\+found\n)?.*Read-only file system\n$/,
      );
      expect((await lab.at.agent('cell-dev')).status?.isolation).toMatchObject({ driver: 'vm' });
    },
    TEST_MS,
  );
});
