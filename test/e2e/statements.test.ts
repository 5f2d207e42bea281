/** Statements of the requirements that no other test checks on real agents (docs/designs/0010-statements.md). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { AgentsHome, WAIT, withSandboxes } from '../support/agents-home.ts';

// biome-ignore lint/suspicious/noExplicitAny: the status of any kind
type Seen = any;

const PATIENT = { ...WAIT, timeout: 90_000 };
const COUNT = 20;

withSandboxes('a team of many in sandboxes', () => {
  const home = new AgentsHome();
  beforeAll(async () => {
    mkdirSync(home.home, { recursive: true, mode: 0o700 });
    writeFileSync(join(home.home, 'config.yaml'), `limits:\n  maxAgentsPerTeam: ${COUNT + 1}\n`);
    await home.start();
  });
  afterAll(() => home.close());

  it('gives a request to one of twenty who claim it at once, and who asked hears of one winner', { timeout: 240_000 }, async () => {
    const claimers = Array.from({ length: COUNT }, (_, index) => `dev-${index + 1}`);
    const roles = [{ name: 'lead' }, { name: 'dev', count: COUNT, resources: { memoryMiB: 128 } }];
    await home.create('Team', 'many', { isolation: { driver: 'sandbox' }, roles, budget: { maxAgents: COUNT + 1 } });
    const hasAll = async () => expect((await home.agents()).filter(({ status }) => status?.phase === 'Ready')).toHaveLength(COUNT + 1);
    await vi.waitFor(hasAll, PATIENT);
    // All of them wait for the same message, and claim when it comes.
    const command = 'touch waits; team wait --type request --timeout 100 > /dev/null && team claim task-001; echo "exit $?"';
    for (const name of claimers) await home.create('Task', `many-try-${name}`, { team: 'many', assignTo: name, command });
    const phases = async () => (await home.list('tasks')).map(({ status }) => status?.phase);
    await vi.waitFor(async () => expect(await phases()).toEqual(Array(COUNT).fill('Running')), PATIENT);
    expect(await home.inside('many-lead', 'team', 'request', 'write the prices down')).toContain('task-001');
    const tries = await Promise.all(
      claimers.map((name) =>
        vi.waitFor(async () => {
          const task = await home.task(`many-try-${name}`);
          expect(task.status?.phase).toBe('Succeeded');
          return { name, text: task.status?.result?.stdout ?? '', errors: task.status?.result?.stderr ?? '' };
        }, PATIENT),
      ),
    );
    const winners = tries.filter(({ text }) => text.endsWith('exit 0\n'));
    expect(winners).toHaveLength(1);
    const [winner] = winners;
    for (const { name, text, errors } of tries) {
      if (name !== winner?.name) expect([text, errors], name).toEqual(['exit 1\n', expect.stringContaining(`${winner?.name} has it`)]);
    }
    expect((await home.task('many-task-001')).status).toMatchObject({ phase: 'Claimed', owner: `many-${winner?.name}`, attempt: 1 });
    const heard = async () => {
      const { items } = await home.call('GET', '/messages?namespace=default&team=many&inbox=lead&type=response');
      return items.map(({ message }: { message: { content: string } }) => message.content);
    };
    await vi.waitFor(async () => expect(await heard()).toEqual([`claimed by ${winner?.name}`]), WAIT);
    await home.delete('teams', 'many');
    await vi.waitFor(async () => expect(await home.list('teams')).toEqual([]), PATIENT);
  });

  it('ends an agent that says nothing at its deadline, and one that asks for time when its work is done', async () => {
    const roles = [{ name: 'silent' }, { name: 'later' }];
    await home.create('Team', 'stop', { isolation: { driver: 'sandbox' }, roles, terminationGracePeriodSeconds: 8 });
    await home.ready(['stop-silent', 'stop-later']);
    await home.create('Task', 'stop-for-ever', { team: 'stop', assignTo: 'silent', command: 'sleep 987' });
    const defers = 'team wait --type shutdown_request --timeout 100 --ack > /dev/null && team stop defer almost done; echo rest > rest';
    await home.create('Task', 'stop-short', { team: 'stop', assignTo: 'later', command: defers });
    for (const name of ['stop-silent', 'stop-later'])
      await vi.waitFor(async () => expect((await home.agent(name)).status?.phase).toBe('Working'), WAIT);
    for (const name of ['stop-silent', 'stop-later']) await home.change('agents', name, { desiredState: 'Stopped' });
    const stopped = (name: string) =>
      vi.waitFor(async () => {
        const { status } = await home.agent(name);
        expect(status?.phase).toBe('Stopped');
        return status;
      }, WAIT);
    const [silent, later] = await Promise.all([stopped('stop-silent'), stopped('stop-later')]);
    expect([silent?.shutdown?.answer, silent?.pid]).toEqual([undefined, undefined]);
    expect(later?.shutdown).toMatchObject({ answer: 'Deferred', reason: 'almost done' });
    await home.reached('stop-short', 'Succeeded');
    // Nobody is left that suits it, and it has not failed.
    expect((await home.reached('stop-for-ever', 'Pending')).status?.failures ?? 0).toBe(0);
  });

  it('is not changed by commands that only read', async () => {
    await home.create('Team', 'calm', {
      isolation: { driver: 'sandbox' },
      roles: [{ name: 'ann' }],
      tasks: [{ name: 'say', command: 'echo hi' }],
    });
    await home.reached('calm-say', 'Succeeded');
    const [ann] = await home.ready(['calm-ann']);
    await home.create('Snapshot', 'calm-ann-s', { team: 'calm', agent: 'calm-ann' });
    const kinds = ['teams', 'agents', 'tasks', 'snapshots', 'merges'];
    const versions = async () => {
      const all = await Promise.all(kinds.map((kind) => home.list(kind)));
      // What the team before has left ends by itself when its time is over.
      const calm = all.flat().filter(({ metadata, spec }) => metadata.name === 'calm' || spec.team === 'calm');
      expect(calm.length).toBeGreaterThan(3);
      // Of an agent a sign of life is written once a minute, whoever looks.
      return calm.map(({ kind, metadata, spec, status: { lastHeartbeat: _alive, ...status } = {} as Seen }) => {
        const { resourceVersion, managedFields: _fields, ...rest } = metadata;
        return [kind, kind === 'Agent' ? undefined : resourceVersion, rest, spec, status];
      });
    };
    await vi.waitFor(async () => {
      const [team] = (await home.list('teams')).filter(({ metadata }) => metadata.name === 'calm');
      expect(team?.status?.taskSummary).toMatchObject({ succeeded: 1, total: 1 });
    }, WAIT);
    let before = await versions();
    let same = 0;
    // Until everything that was begun has been said: some of it is written once a second.
    await vi.waitFor(
      async () => {
        const now = await versions();
        same = isDeepStrictEqual(now, before) ? same + 1 : 0;
        before = now;
        expect(same).toBe(2);
      },
      { ...WAIT, interval: 1_500 },
    );
    const commands = [
      ['get', 'teams,agents,tasks', '-o', 'yaml'],
      ['describe', 'agent', 'calm-ann'],
      ['why', 'task/calm-say'],
      ['board', 'calm', '--watch=false'],
      ['messages', 'calm'],
      ['inbox', 'calm'],
      ['logs', 'calm-ann'],
      ['output', 'calm-say'],
      ['top', 'agents'],
      ['events'],
      ['explain', 'team.spec'],
      ['snapshot', 'list'],
      ['version'],
      ['api-resources'],
    ];
    for (const command of commands) expect(await home.cli(...command), command.join(' ')).toMatchObject({ code: 0 });
    expect(await versions()).toEqual(before);
    expect((await home.agent('calm-ann')).status?.incarnation).toBe(ann?.status?.incarnation);
  });
});
