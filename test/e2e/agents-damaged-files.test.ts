/** What the daemon keeps about agents, damaged by hand while it is down: nobody else is harmed, nothing starts over in silence. */
import { existsSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import { AgentsHome, WAIT } from '../support/agents-home.ts';
import { runCli } from '../support/cli.ts';

describe('an agent whose files were damaged', () => {
  const home = new AgentsHome();
  let one: Agent;
  const cli = (command: string, ...args: string[]) => runCli([command, '--home', home.home, ...args]);
  const sent = async (text: string) => expect(await cli('message', 'try/one', text)).toMatchObject({ code: 0, stderr: '' });
  const inbox = () => home.inside('try-one', 'team', 'inbox');
  beforeAll(async () => {
    await home.start();
    await home.create('Team', 'try', { isolation: { driver: 'process' }, roles: [{ name: 'one' }, { name: 'two' }] });
    [one] = (await home.ready(['try-one', 'try-two'])) as [Agent, Agent];
    await home.inside('try-one', 'sh', '-c', 'echo kept > file');
  });
  afterAll(() => home.close(expect.any(String)));

  it('gets new messages after its mailbox was emptied, and people are told that some are lost', async () => {
    for (const text of ['first', 'second']) await sent(text);
    await vi.waitFor(async () => expect(await inbox()).toContain('second'), WAIT);
    await vi.waitFor(async () => expect((await home.agent('try-one')).status?.mailbox?.nextSeq).toBe(3), WAIT);
    await home.stop();
    truncateSync(join(home.home, 'state', 'mail', `${one.metadata.uid}.jsonl`));
    await home.start();
    await home.ready(['try-one', 'try-two']);
    await sent('third');
    await vi.waitFor(async () => expect(await inbox()).toContain('third'), WAIT);
    await vi.waitFor(
      async () => expect((await cli('events')).stdout).toMatch(/JournalCorrupt +Agent\/try-one +.*has lost messages: 2/),
      WAIT,
    );
  });

  it('keeps neither the others nor the end of the daemon, and starts again with its files', async () => {
    await home.stop();
    const record = join(home.home, 'state', 'workspaces', 'process', one.metadata.uid, 'record.json');
    expect(existsSync(record)).toBe(true);
    writeFileSync(record, '{"id":');
    await home.start();
    await home.ready(['try-two']);
    await vi.waitFor(async () => expect((await cli('why', 'agent/try-one')).stdout).toContain('remove that file'), WAIT);
    const { code, stderr } = await home.stop();
    expect([code, stderr]).toEqual([1, expect.stringContaining(`agentiso: cannot read the workspace record ${record}`)]);
    expect(home.machineState().processes).toEqual([]);
    rmSync(record);
    await home.start();
    await home.ready(['try-one', 'try-two']);
    expect(await home.inside('try-one', 'cat', 'file')).toBe('kept\n');
  });
});
