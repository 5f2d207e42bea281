/** The tests of the verifier, for whichever driver: real workspaces, real guests, real git. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { keyOf } from '#api/meta.ts';
import type { Agent, Task } from '#api/types.ts';
import type { Verification } from '#controllers/task/verifier.ts';
import type { Driver } from '#drivers/driver.ts';
import { connectGuest, type GuestClient } from '#guest/client.ts';
import type { Session } from '#guest/sessions.ts';
import { newUid } from '#lib/clock.ts';
import { silentLogger } from '#lib/log.ts';
import { bench, newAgent, newTask } from '../../../test/support/controllers.ts';
import { bundleGuest, type GuestBundle } from '../../../test/support/guest-bundle.ts';
import { openDriver } from '../../../test/support/open-driver.ts';
import { createVerifier, type OpenVerifier } from './verifier.ts';

const { signal } = new AbortController();
const WAIT = { timeout: 30_000, interval: 20 };
const COMMIT = 'git -c user.name=a -c user.email=a@b commit -q -m work';

export function describeVerifier(kind: string): void {
  describe(`the verifier, with the ${kind} driver`, () => {
    let bundle: GuestBundle;
    let home: string;
    let driver: Driver;
    let agent: Agent;
    let session: GuestClient;
    const { client } = bench();
    const verifiers: OpenVerifier[] = [];
    let isReachable = true;

    beforeAll(async () => {
      bundle = await bundleGuest();
      home = mkdtempSync(join(tmpdir(), 'agentiso-verify-'));
      mkdirSync(join(home, 'workspaces'));
      driver = await openDriver(kind, { stateDir: join(home, 'workspaces'), guestAgentPath: bundle.path });
      agent = await client.create<Agent>(newAgent('a-worker'));
      const incarnation = newUid();
      const id = agent.metadata.uid;
      const resources = { vcpus: 1, memoryMiB: 256, diskGiB: 1 };
      await driver.create({ id, incarnation, hostname: 'worker', resources, team: 1, egress: false }, signal);
      session = await vi.waitFor(async () => connectGuest(await driver.connect(id, 'control', signal), { id, incarnation }), WAIT);
    });

    afterEach(async () => {
      isReachable = true;
      for (const verifier of verifiers.splice(0)) await verifier.close();
      expect(await scratches()).toEqual([]);
      expect(recordNames()).toEqual([]);
      await inAgent('rm -rf ..?* .[!.]* *');
    });

    afterAll(async () => {
      session?.close('over');
      for (const { id } of await driver.list(signal)) await gone(id);
      rmSync(home, { recursive: true, force: true });
      await bundle.remove();
    });

    const gone = (id: string) =>
      vi.waitFor(async () => {
        await driver.delete(id, signal);
        expect(await driver.get(id, signal)).toBeUndefined();
      }, WAIT);
    const scratches = async () => (await driver.list(signal)).map(({ id }) => id).filter((id) => id !== agent.metadata.uid);
    const recordNames = (): string[] => {
      mkdirSync(join(home, 'state/verifications'), { recursive: true });
      return readdirSync(join(home, 'state/verifications'));
    };

    function open(): OpenVerifier {
      const verifier = createVerifier({
        home,
        client,
        log: silentLogger,
        drivers: [driver],
        driverOf: () => driver,
        placeOf: async () => ({ team: 1 }),
        sessions: { get: () => ({ ...session, state: { isControlOpen: isReachable } }) as unknown as Session },
      });
      verifiers.push(verifier);
      return verifier;
    }

    async function inAgent(command: string): Promise<string> {
      const { exitCode, stdout, stderr } = await session.call('exec', { command, timeoutMs: 30_000 });
      expect([exitCode, stderr], command).toEqual([0, '']);
      return stdout.trim();
    }

    let tasks = 0;
    async function finished(verify: readonly string[], commit: string | undefined, spec: object = {}): Promise<Task> {
      tasks += 1;
      const task = await client.create<Task>(newTask(`a-task-${tasks}`, { verify, ...spec }));
      const result = { exitCode: 0, ...(commit !== undefined && { commit }) };
      return client.updateStatus<Task>({ ...task, status: { phase: 'Running', attempt: 1, result } });
    }

    function verified(verifier: OpenVerifier, task: Task): Promise<Verification> {
      return vi.waitFor(async () => {
        const found = await verifier.verify(task, agent);
        if (found === undefined) throw new Error('not yet');
        return found;
      }, WAIT);
    }

    it('runs the commands at the commit, with its history and the environment of the task, and wakes who waits', async () => {
      const commit = await inAgent(
        `git init -q . && echo 1 > one && git add one && ${COMMIT} && echo 2 > two && git add two && ${COMMIT} && git rev-parse HEAD`,
      );
      // By the time of the verification the agent is somewhere else.
      await inAgent(`git rm -q one && ${COMMIT}`);
      const verify = [
        'cat one two',
        'test "$(git rev-parse HEAD)" = "$WANT"',
        'git log --format=%s; git status --porcelain; echo $AGENTISO_TASK',
      ];
      const task = await finished(verify, commit, { env: { WANT: commit } });
      const verifier = open();
      const woken: unknown[] = [];
      const stopWaking = verifier.wake((key) => woken.push(key));
      expect(await verified(verifier, task)).toEqual({
        attempt: 1,
        commit,
        passed: true,
        commands: [
          { command: verify[0], exitCode: 0, output: '1\n2\n' },
          { command: verify[1], exitCode: 0, output: '' },
          { command: verify[2], exitCode: 0, output: `work\nwork\n${task.metadata.name}\n` },
        ],
      });
      stopWaking();
      expect(woken).toEqual([keyOf(task)]);
      expect(await scratches()).toEqual([]);
      expect(await verifier.verify(task, agent)).toMatchObject({ passed: true });
      await verifier.forget(task.metadata.uid);
    });

    it('does not count what was not committed', async () => {
      const commit = await inAgent(`git init -q . && echo bad > file && git add file && ${COMMIT} && git rev-parse HEAD`);
      await inAgent('echo good > file; echo x > more');
      const task = await finished(['cat file; ls; grep -q good file', 'true'], commit);
      expect(await verified(open(), task)).toMatchObject({ passed: false, commands: [{ exitCode: 1, output: 'bad\nfile\n' }] });
      expect(await inAgent('cat file')).toBe('good');
    });

    it('takes a copy of the files where there is no repository, and changes none of the agent', async () => {
      await inAgent("mkdir -p sub/empty && echo 'x y' > 'sub/a b' && chmod 700 'sub/a b' && ln -s 'a b' sub/link && echo hidden > .dot");
      const task = await finished(["cat 'sub/a b' sub/link .dot && test -x 'sub/a b' && test -d sub/empty", 'rm -rf sub .dot'], undefined);
      const verification = await verified(open(), task);
      expect(verification).toMatchObject({ passed: true, commands: [{ output: 'x y\nx y\nhidden\n' }, { exitCode: 0 }] });
      expect(verification).not.toHaveProperty('commit');
      expect(await inAgent('cat .dot')).toBe('hidden');
    });

    it('keeps the end of what a command printed, between characters', async () => {
      const task = await finished(["yes 漢🙂 | head -n 5000; printf '\\nthe end' >&2; exit 3"], undefined);
      const { commands } = await verified(open(), task);
      expect(commands[0]?.exitCode).toBe(3);
      expect(commands[0]?.output).not.toContain('\ufffd');
      expect(commands[0]?.output.startsWith('... ')).toBe(true);
      expect(commands[0]?.output).toContain('the end');
      expect(Buffer.byteLength(commands[0]?.output ?? '')).toBeLessThanOrEqual(4_100);
    });

    it('ends a command that is over the time of the task', async () => {
      const task = await finished(['echo started; sleep 987', 'true'], undefined, { timeoutSeconds: 1 });
      const { passed, commands } = await verified(open(), task);
      expect([passed, commands]).toEqual([
        false,
        [
          {
            command: 'echo started; sleep 987',
            exitCode: -1,
            output: expect.stringContaining('timed out: the commands of verify have 1 s'),
          },
        ],
      ]);
    });

    it('counts a command that takes its workspace down with it as failed', async () => {
      const task = await finished(['echo before; kill -9 $PPID; sleep 987', 'true'], undefined);
      const { passed, commands } = await verified(open(), task);
      expect([passed, commands]).toMatchObject([
        false,
        [{ exitCode: -1, output: expect.stringContaining('its workspace ended while it ran') }],
      ]);
    });

    it.each([
      ['a commit that is not there', 'git init -q .', '0123456789012345678901234567890123456789'],
      ['no repository any more', 'true', '0123456789012345678901234567890123456789'],
      ['something that is no commit', 'git init -q .', '--output=/tmp/x'],
    ])('is a failure of the attempt, not of the verifier: %s', async (_name, prepare, commit) => {
      await inAgent(prepare);
      const task = await finished(['true'], commit);
      const { passed, commands } = await verified(open(), task);
      expect([passed, commands]).toMatchObject([
        false,
        [{ command: 'true', exitCode: -1, output: expect.stringContaining('could not start') }],
      ]);
    });

    it('takes a clone that has only a part of its history', async () => {
      const make = `git init -q src && cd src && echo 1 > f && git add f && ${COMMIT} && echo 2 > f && git add f && ${COMMIT}`;
      const commit = await inAgent(
        `${make} && cd .. && git clone -q --depth 1 "file://$PWD/src" c && mv c/.git . && rm -rf c src && git rev-parse HEAD`,
      );
      const task = await finished(['test "$(cat f)" = 2 && git log --format=%s && git fsck'], commit);
      expect(await verified(open(), task)).toMatchObject({ passed: true });
    });

    it('says when the agent cannot be reached, and begins anew when it can', async () => {
      const task = await finished(['true'], undefined);
      const verifier = open();
      isReachable = false;
      expect(await verifier.verify(task, agent)).toBeUndefined();
      await vi.waitFor(
        () => expect(verifier.verify(task, agent)).rejects.toMatchObject({ reason: 'AgentUnavailable', afterMs: 1_000 }),
        WAIT,
      );
      isReachable = true;
      expect(await verified(verifier, task)).toMatchObject({ passed: true });
    });

    it('is at most at two at once, and the others follow', async () => {
      const verifier = open();
      const all = await Promise.all([1, 2, 3, 4].map(() => finished(['sleep 0.3'], undefined)));
      let most = 0;
      for (const task of all) await verifier.verify(task, agent);
      await vi.waitFor(async () => {
        most = Math.max(most, recordNames().filter((name) => name.endsWith('.json')).length);
        const found = await Promise.all(all.map((task) => verifier.verify(task, agent)));
        expect(found).toMatchObject([{ passed: true }, { passed: true }, { passed: true }, { passed: true }]);
      }, WAIT);
      expect(most).toBe(2);
    });

    it('ends what nobody wants any more, or what the end of the daemon interrupts', async () => {
      const verifier = open();
      const [unwanted, interrupted] = [await finished(['sleep 987'], undefined), await finished(['sleep 987'], undefined)];
      for (const task of [unwanted, interrupted]) await verifier.verify(task, agent);
      await vi.waitFor(async () => expect(await scratches()).toHaveLength(2), WAIT);
      await verifier.forget(unwanted.metadata.uid);
      await vi.waitFor(async () => expect(await scratches()).toHaveLength(1), WAIT);
      await verifier.close();
      expect(await scratches()).toEqual([]);
    });

    it('removes what an earlier daemon has left, and nothing else', async () => {
      const resources = { vcpus: 1, memoryMiB: 256, diskGiB: 1 };
      const spec = { incarnation: newUid(), hostname: 'verify', resources, team: 1, egress: false };
      const [left, notRecorded] = [`verify-${newUid()}`, `verify-${newUid()}`];
      recordNames();
      const record = (id: string, name = id) => {
        const text = JSON.stringify({ id, driver: driver.name, taskUid: 't', attempt: 1 });
        writeFileSync(join(home, 'state/verifications', `${name}.json`), text);
      };
      record(left);
      // Neither an agent's workspace nor one that is not named by its own record.
      record(agent.metadata.uid);
      record(notRecorded, `verify-${newUid()}`);
      for (const id of [left, notRecorded]) await driver.create({ ...spec, id }, signal);
      open();
      await vi.waitFor(async () => expect(await scratches()).toEqual([notRecorded]), WAIT);
      expect(await driver.get(agent.metadata.uid, signal)).toMatchObject({ phase: 'running' });
      await gone(notRecorded);
      for (const name of recordNames()) if (!name.startsWith(left)) rmSync(join(home, 'state/verifications', name));
      await vi.waitFor(() => expect(recordNames()).toEqual([]), WAIT);
    });
  });
}
