/** A daemon that was told to reach its machines by vsock. */
import { afterAll, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import { AgentsHome } from '../support/agents-home.ts';
import { machinesByVsock, testImagesDirectory } from '../support/machines.ts';
import { requires } from '../support/requirements.ts';

const here = await machinesByVsock();
const WAIT = { timeout: 300_000, interval: 200 };
const { AGENTISO_VHOST_VSOCK: program = '' } = process.env;
const ENV = { AGENTISO_IMAGES: testImagesDirectory(), AGENTISO_VM_TRANSPORT: 'vsock' };
const resources = { vcpus: 1, memoryMiB: 256, diskGiB: 1 };

requires(here.support !== undefined, `virtual machines by vsock: ${here.reason}`)('a daemon that reaches its machines by vsock', () => {
  const home = new AgentsHome();
  afterAll(() => home.close(expect.anything()));

  const conditionOf = ({ status }: Agent, type: string) => status?.conditions?.find((each) => each.type === type);
  const until = (check: (agent: Agent) => void): Promise<Agent> =>
    vi.waitFor(async () => {
      const agent = await home.agent('cell-one');
      check(agent);
      return agent;
    }, WAIT);
  const ready = () => until((agent) => expect(conditionOf(agent, 'Ready')?.status, JSON.stringify(agent.status)).toBe('True'));
  const runTask = async (name: string) => {
    await home.create('Task', name, { team: 'cell', command: 'echo done >> /workspace/file; wc -l < /workspace/file' });
    await vi.waitFor(async () => expect((await home.task(name)).status).toMatchObject({ phase: 'Succeeded' }), WAIT);
  };

  it('says what is missing where it is; works when it is there, and when it was killed', async () => {
    await home.start([], { ...ENV, AGENTISO_VHOST_VSOCK: '/nowhere/vhost-device-vsock' });
    await home.create('Team', 'cell', { isolation: { driver: 'vm' }, roles: [{ name: 'one', resources }] });
    const refused = await until((agent) => expect(conditionOf(agent, 'WorkspaceReady')?.reason).toBe('IsolationUnavailable'));
    expect(conditionOf(refused, 'WorkspaceReady')?.message).toMatch(
      /there is no \/nowhere\/vhost-device-vsock, which vsock needs; cargo install vhost-device-vsock/,
    );
    await home.stop();
    const env = { ...ENV, ...(program !== '' && { AGENTISO_VHOST_VSOCK: program }) };
    await home.start([], env);
    const { status } = await ready();
    expect(status?.isolation).toMatchObject({ driver: 'vm', transport: 'vsock' });
    await runTask('first');
    await home.kill();
    await home.start([], env);
    await runTask('second');
    const after = await ready();
    expect(after.status).toMatchObject({ incarnation: status?.incarnation, isolation: { transport: 'vsock' } });
    expect(await home.inside('cell-one', 'cat', '/workspace/file')).toBe('done\ndone\n');
  });
});
