/** Agents in real workspaces that write to each other through their own socket: who reaches whom, as whom, and what is left of it after a kill. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import type { FiledMessage } from '#relay/post.ts';
import { AgentsHome, conditionOf, WAIT } from '../support/agents-home.ts';

interface Read {
  readonly message_id: string;
  readonly from: string;
  readonly to: string;
  readonly content: string;
  readonly message_type: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Says a verb on the agent's own socket, with whatever params. */
const RAW = `
const request = require('node:http').request({ socketPath: process.env.AGENTISO_SOCKET, path: '/' + process.argv[1], method: 'POST' }, async (answer) => {
  let text = '';
  for await (const chunk of answer) text += chunk;
  console.log(JSON.stringify({ status: answer.statusCode, body: JSON.parse(text) }));
});
request.end(process.argv[2]);`;

describe('agents that write to each other', () => {
  const home = new AgentsHome();
  const isolation = { driver: 'auto', minimum: 'process' };
  const TEAMS = { ship: ['lead', 'coder', 'tester'], 'ship-two': ['lead', 'coder'], crew: ['coder', 'cook'], guild: ['coder'] };
  const names = Object.entries(TEAMS).flatMap(([team, roles]) => roles.map((role) => `${team}-${role}`));

  beforeAll(async () => {
    await home.start();
    for (const [team, roles] of Object.entries(TEAMS)) {
      const parent = team === 'crew' || team === 'guild' ? { parent: 'ship' } : {};
      await home.create('Team', team, {
        isolation,
        budget: { maxAgents: team === 'ship' ? 10 : 3 },
        terminationGracePeriodSeconds: 20,
        roles: roles.map((name) => ({ name })),
        ...parent,
      });
    }
    await home.ready(names);
  });
  afterAll(() => home.close());

  const team = (agent: string, ...words: readonly string[]) => home.startCli('exec', agent, '--', 'team', ...words).result;
  const sent = async (agent: string, ...words: readonly string[]): Promise<{ message_id: string; accepted?: string[] }> => {
    const { code, stdout, stderr } = await team(agent, 'send', '--json', ...words);
    expect([code, stderr], stdout).toEqual([0, '']);
    return JSON.parse(stdout);
  };
  const refused = async (agent: string, ...words: readonly string[]): Promise<string> => {
    const { code, stderr } = await team(agent, 'send', ...words);
    expect(code, stderr).toBe(1);
    return stderr;
  };
  const inbox = async (agent: string, ...flags: readonly string[]): Promise<Read[]> => {
    const { code, stdout, stderr } = await team(agent, 'inbox', '--json', '--limit', '100', ...flags);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout).messages;
  };
  /** Waits until so many are there, and takes them. */
  const takes = (agent: string, count: number) =>
    vi.waitFor(async () => {
      expect(await inbox(agent, '--keep')).toHaveLength(count);
      return inbox(agent);
    }, WAIT);
  const lines = (messages: readonly Read[]) =>
    messages.map(({ from, to, message_type, content }) => `${from} -> ${to} ${message_type}: ${content}`);
  const people = async (query: string): Promise<FiledMessage[]> => (await home.call('GET', `/messages?${query}`)).items;
  const raw = async (agent: string, verb: string, params: object) =>
    JSON.parse(await home.inside(agent, 'node', '-e', RAW, verb, JSON.stringify(params)));
  const journalOf = (agent: Agent) => readFileSync(join(home.home, 'state', 'mail', `${agent.metadata.uid}.jsonl`), 'utf8');

  it('reach the lead, and the people where a team has none', async () => {
    await sent('ship-coder', 'lead', 'to the lead');
    await sent('crew-coder', 'lead', 'to the people');
    expect(lines(await takes('ship-lead', 1))).toEqual(['coder -> lead text: to the lead']);
    const [question] = await people('team=crew&inbox=lead');
    expect(question).toMatchObject({ inbox: 'crew/orchestrator', state: 'Accepted', message: { from: 'coder', content: 'to the people' } });
    await home.call('POST', '/messages', {
      namespace: 'default',
      team: 'crew',
      to: 'coder',
      content: 'answer',
      replyTo: question?.message.message_id,
    });
    expect(lines(await takes('crew-coder', 1))).toEqual(['orchestrator -> coder text: answer']);
    await vi.waitFor(async () => {
      expect((await people('team=crew&inbox=coder')).map(({ state }) => state)).toEqual(['Seen']);
    }, WAIT);
  });

  it('get a broadcast of the lead once each, under one id, but for the lead; others may not send one', async () => {
    const { message_id, accepted } = await sent('ship-lead', '*', 'all hands');
    expect(accepted).toEqual(['coder', 'tester']);
    for (const agent of ['ship-coder', 'ship-tester']) {
      expect(await takes(agent, 1)).toMatchObject([{ message_id, from: 'lead', to: '*', message_type: 'broadcast', content: 'all hands' }]);
    }
    expect(await inbox('ship-lead')).toEqual([]);
    expect(await refused('ship-coder', '*', 'me too')).toContain('only the lead may write to everybody');
  });

  it('talk between parent and child, and not with sisters or teams that only sound related', async () => {
    await sent('ship-coder', 'crew/cook', 'down');
    await sent('crew-cook', 'ship/coder', 'up');
    expect(lines(await takes('crew-cook', 1))).toEqual(['ship/coder -> cook text: down']);
    expect(lines(await takes('ship-coder', 1))).toEqual(['crew/cook -> coder text: up']);
    expect(await refused('crew-cook', 'guild/coder', 'psst')).toContain('team crew may not send to team guild');
    expect(await refused('ship-coder', 'ship-two/coder', 'psst')).toContain('team ship may not send to team ship-two');
    expect(await refused('ship-coder', 'nobody', 'psst')).toContain('there is no agent nobody in team ship');
  });

  it('of the same name in two teams never see each other’s mail', async () => {
    await sent('ship-lead', 'coder', 'for ship');
    await sent('ship-two-lead', 'coder', 'for ship-two');
    expect(lines(await takes('ship-coder', 1))).toEqual(['lead -> coder text: for ship']);
    expect(lines(await takes('ship-two-coder', 1))).toEqual(['lead -> coder text: for ship-two']);
    expect(await inbox('crew-coder')).toEqual([]);
  });

  it('cannot write in another name, of another run or from another team', async () => {
    const forged = { to: 'tester', content: 'I am the lead', from_incarnation: 'x', team: 'ship-two', namespace: 'other' };
    const named = await raw('ship-coder', 'sendMessage', { ...forged, from: 'lead' });
    expect(named.status, JSON.stringify(named)).toBeGreaterThanOrEqual(400);
    const order = await raw('ship-coder', 'sendMessage', { to: 'tester', content: 'x', message_type: 'shutdown_request' });
    expect(order).toMatchObject({ status: 403, body: { code: 'Forbidden', retryable: false, hint: expect.stringContaining('lead') } });
    const assignment = await raw('ship-lead', 'sendMessage', { to: 'tester', content: '{}', message_type: 'task_assignment' });
    expect(assignment).toMatchObject({ status: 403, body: { code: 'Forbidden' } });
    await raw('ship-coder', 'sendMessage', forged);
    await sent('ship-coder', 'tester', 'honestly');
    const tester = await home.agent('ship-tester');
    const coder = await home.agent('ship-coder');
    const written = journalOf(tester)
      .split('\n')
      .filter((line) => line.includes('honestly') || line.includes('I am the lead'))
      .map((line) => JSON.parse(line).message);
    expect(written.length).toBeGreaterThan(0);
    for (const message of written) {
      expect(message).toMatchObject({ from: 'coder', from_incarnation: coder.status?.incarnation, team: 'ship', namespace: 'default' });
    }
    await takes('ship-tester', written.length);
  });

  it('are shown with what waits for them; a full inbox says so, refuses, and takes again after one ack', async () => {
    const script = 'for i in $(seq 0 104); do team send cook msg-$i 2>&1 >/dev/null; done | grep -c full';
    expect((await home.inside('crew-coder', 'sh', '-c', script)).trim()).toBe('5');
    await vi.waitFor(async () => {
      const cook = await home.agent('crew-cook');
      expect(conditionOf(cook, 'InboxFull')).toBe('True TooManyUnacked');
      expect(cook.status).toMatchObject({ messagesPending: 100, mailbox: { unacked: 100 } });
    }, WAIT);
    const first = await vi.waitFor(async () => {
      const kept = await inbox('crew-cook', '--keep');
      expect(kept.map(({ content }) => content)).toEqual(Array.from({ length: 100 }, (_, i) => `msg-${i}`));
      return kept[0];
    }, WAIT);
    expect(await refused('crew-coder', 'cook', 'no room')).toContain('full');
    await raw('crew-cook', 'checkMessages', { ack: [first?.message_id], limit: 1, keep: true });
    await vi.waitFor(() => sent('crew-coder', 'cook', 'room again'), WAIT);
    expect((await takes('crew-cook', 100)).at(-1)?.content).toBe('room again');
    await vi.waitFor(async () => {
      const cook = await home.agent('crew-cook');
      expect([conditionOf(cook, 'InboxFull'), cook.status?.messagesPending]).toEqual(['False HasRoom', 0]);
    }, WAIT);
  });

  it('say what they do, where people and the lead see it', async () => {
    expect((await team('ship-tester', 'status', 'half', 'way')).code).toBe(0);
    await vi.waitFor(async () => {
      expect((await home.agent('ship-tester')).status).toMatchObject({ progress: { text: 'half way' }, lastActivity: expect.any(String) });
    }, WAIT);
    expect(lines(await takes('ship-lead', 1))).toEqual(['tester -> lead status_update: half way']);
  });

  it('find everything that was accepted after the daemon was killed, and write on', async () => {
    for (let i = 0; i < 5; i++) await sent('ship-two-lead', 'coder', `before ${i}`);
    await sent('crew-cook', 'orchestrator', 'still here');
    await home.kill();
    await home.start();
    await home.ready(names);
    expect((await takes('ship-two-coder', 5)).map(({ content }) => content)).toEqual(Array.from({ length: 5 }, (_, i) => `before ${i}`));
    await sent('ship-two-lead', 'coder', 'after');
    expect(lines(await takes('ship-two-coder', 1))).toEqual(['lead -> coder text: after']);
    expect((await people('team=crew&inbox=orchestrator')).map(({ message }) => message.content)).toContain('still here');
  });

  it('are asked to stop by their lead, may say no, and end at the deadline all the same', async () => {
    const command = 'team wait --type shutdown_request --timeout 100 --ack && team stop refuse not yet; sleep 120';
    await home.create('Task', 'ship-long', { team: 'ship', command, assignTo: 'tester' });
    await home.reached('ship-long', 'Running');
    await vi.waitFor(async () => expect((await home.agent('ship-tester')).status?.phase).toBe('Working'), WAIT);
    await sent('ship-lead', 'tester', 'enough for today', '--type', 'shutdown_request');
    const { deadline, requestedAt } = await vi.waitFor(async () => {
      const { status } = await home.agent('ship-tester');
      expect(status).toMatchObject({ phase: 'Stopping', shutdown: { answer: 'Refused', reason: 'not yet' } });
      return status?.shutdown ?? {};
    }, WAIT);
    expect(Date.parse(deadline ?? '') - Date.parse(requestedAt ?? '')).toBe(20_000);
    const [asked, ...more] = await people('team=ship&inbox=tester&type=shutdown_request');
    expect([asked?.message, more]).toMatchObject([{ from: 'system', metadata: { reason: 'enough for today', deadline } }, []]);
    expect(lines(await takes('ship-lead', 1))).toEqual(['tester -> lead shutdown_response: not yet']);
    const stopped = await vi.waitFor(async () => {
      const agent = await home.agent('ship-tester');
      expect(agent.status?.phase).toBe('Stopped');
      return agent;
    }, WAIT);
    expect(stopped.status?.shutdown).toMatchObject({ answer: 'Refused', reason: 'not yet' });
    expect(stopped.status?.pid).toBeUndefined();
    expect(await refused('ship-coder', 'orchestrator', '--type', 'shutdown_response', 'x')).toContain('goes to the lead');
  });

  it('take their mail with them, and nobody else’s', async () => {
    const two = await home.agent('ship-two-coder');
    await sent('ship-two-lead', 'coder', 'stays');
    const gone = (await home.agents()).filter(({ spec }) => ['ship', 'crew', 'guild'].includes(spec.team));
    // Without the room behind it: that the guest has it may be written there at any time.
    const before = journalOf(two).trimEnd();
    await home.delete('teams', 'ship');
    await vi.waitFor(async () => {
      expect((await home.list('teams')).map(({ metadata }) => metadata.name)).toEqual(['ship-two']);
      for (const agent of gone) expect(() => journalOf(agent)).toThrow('ENOENT');
    }, WAIT);
    expect(journalOf(two).startsWith(before)).toBe(true);
    expect(lines(await takes('ship-two-coder', 1))).toEqual(['lead -> coder text: stays']);
  });
});
