/** The tests of the verifier of merged commits, for whichever driver: real workspaces, real guests, real git. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Merge, Team } from '#api/types.ts';
import type { CommitVerification } from '#controllers/merge/deps.ts';
import type { Driver } from '#drivers/driver.ts';
import { openTeamRepositories } from '#git/open-team-repositories.ts';
import { lines, TestRepository } from '#git/repository.fixture.ts';
import type { TeamRepository } from '#git/team-repository.ts';
import { newUid } from '#lib/clock.ts';
import { silentLogger } from '#lib/log.ts';
import { bench, newTeam } from '../../../test/support/controllers.ts';
import { bundleGuest, type GuestBundle } from '../../../test/support/guest-bundle.ts';
import { openDriver } from '../../../test/support/open-driver.ts';
import { createCommitVerifier, type OpenCommitVerifier } from './commit-verifier.ts';

const { signal } = new AbortController();
const WAIT = { timeout: 30_000, interval: 20 };

export function describeCommitVerifier(kind: 'process' | 'sandbox'): void {
  describe(`the verifier of merged commits, with the ${kind} driver`, () => {
    let bundle: GuestBundle;
    let home: string;
    let driver: Driver;
    let source: TestRepository;
    let repository: TeamRepository;
    let verifier: OpenCommitVerifier;
    const { client } = bench();
    let merges = 0;

    beforeAll(async () => {
      bundle = await bundleGuest();
      home = mkdtempSync(join(tmpdir(), 'agentiso-verify-'));
      mkdirSync(join(home, 'workspaces'));
      driver = await openDriver(kind, { stateDir: join(home, 'workspaces'), guestAgentPath: bundle.path });
      source = new TestRepository();
      source.commit('first', { 'a.txt': lines(3) });
      source.commit('second', { 'a.txt': lines(3, { 2: 'two' }), 'run.sh': '#!/bin/sh\necho ran\n' });
      const { metadata } = await client.create<Team>(newTeam('shop', { isolation: { driver: kind } }) as never);
      const repositories = await openTeamRepositories(home);
      repository = await repositories.open({ ...metadata, source: { path: source.directory } });
      await repository.baseCommit();
    });
    beforeEach(() => {
      verifier = open();
    });
    afterEach(async () => {
      await verifier.close();
      expect(await driver.list(signal)).toEqual([]);
      expect(records()).toEqual([]);
    });
    afterAll(async () => {
      source?.remove();
      rmSync(home, { recursive: true, force: true });
      await bundle.remove();
    });

    const open = () =>
      createCommitVerifier({
        home,
        client,
        log: silentLogger,
        here: { drivers: [driver], sandbox: { mode: 'unavailable', reason: '' }, close: async () => undefined } as never,
        teamNumber: () => 1,
      });
    const newMerge = () => {
      merges += 1;
      return {
        kind: 'Merge',
        metadata: { uid: `m${merges}`, name: `m${merges}`, namespace: 'default' },
        spec: { team: 'shop' },
      } as unknown as Merge;
    };
    const records = () => {
      mkdirSync(join(home, 'state/merge-verifications'), { recursive: true });
      return readdirSync(join(home, 'state/merge-verifications'));
    };
    async function verified(commit: string, commands: readonly string[], merge = newMerge()): Promise<CommitVerification> {
      const done = vi.fn();
      const stop = verifier.wake(done);
      expect(await verifier.verify(merge, commit, commands, repository)).toBeUndefined();
      await vi.waitFor(() => expect(done).toHaveBeenCalledWith({ kind: 'Merge', namespace: 'default', name: merge.metadata.name }), WAIT);
      stop();
      return (await verifier.verify(merge, commit, commands, repository)) as CommitVerification;
    }

    it('runs the commands at the commit, with its history, and has no network and no remote', async () => {
      const commands = [
        'test "$(git rev-parse HEAD)" = "$AGENTISO_COMMIT" && git status --porcelain && git log --format=%s && git remote',
        'sh run.sh',
        'git fsck --no-dangling 2>/dev/null && test "$(sed -n 2p a.txt)" = two',
      ];
      const result = await verified(source.head(), commands);
      expect(result).toMatchObject({ passed: true, commit: source.head() });
      expect(result.commands.map(({ output }) => output)).toEqual(['second\nfirst\n', 'ran\n', '']);
      expect((await verified(source.head('HEAD~1'), ['test ! -e run.sh'])).passed).toBe(true);
    });

    it('says what failed, and runs nothing after it', async () => {
      const { passed, commands } = await verified(source.head(), ['echo no >&2; exit 3', 'echo never']);
      expect([passed, commands]).toEqual([false, [{ command: 'echo no >&2; exit 3', exitCode: 3, output: 'no\n' }]]);
    });

    it('is a failure of the commit when it cannot be checked out', async () => {
      const { passed, commands } = await verified('0123456789012345678901234567890123456789', ['true']);
      expect([passed, commands]).toMatchObject([false, [{ exitCode: -1, output: expect.stringContaining('could not start') }]]);
    });

    it('takes a team whose clone has only a part of its history', async () => {
      const shallow = new TestRepository();
      shallow.git('fetch', '-q', '--depth', '1', `file://${source.directory}`, 'main:part');
      const repositories = await openTeamRepositories(home);
      const other = await repositories.open({ uid: 'shallow', namespace: 'default', name: 'shallow', source: { path: shallow.directory } });
      const commit = await other.targetCommit('part');
      const merge = newMerge();
      await verifier.verify(merge, commit ?? '', ['git log --format=%s'], other);
      await vi.waitFor(async () => {
        const result = await verifier.verify(merge, commit ?? '', ['git log --format=%s'], other);
        expect(result).toMatchObject({ passed: true, commands: [{ output: 'second\n' }] });
      }, WAIT);
      shallow.remove();
    });

    it('ends what nobody wants any more, and what was asked for another commit', async () => {
      const [merge, other] = [newMerge(), newMerge()];
      await verifier.verify(merge, source.head(), ['sleep 987'], repository);
      await verifier.verify(other, source.head(), ['sleep 987'], repository);
      await vi.waitFor(async () => expect(await driver.list(signal)).toHaveLength(2), WAIT);
      await verifier.forget(other.metadata.uid);
      await vi.waitFor(async () => expect(await driver.list(signal)).toHaveLength(1), WAIT);
      expect(await verified(source.head('HEAD~1'), ['true'], merge)).toMatchObject({ passed: true });
    });

    it('removes what an earlier daemon has left', async () => {
      const id = `verify-${newUid()}`;
      records();
      writeFileSync(join(home, 'state/merge-verifications', `${id}.json`), JSON.stringify({ id, driver: driver.name, mergeUid: 'm' }));
      const resources = { vcpus: 1, memoryMiB: 256, diskGiB: 1 };
      await driver.create({ id, incarnation: newUid(), hostname: 'verify', resources, team: 1, egress: false }, signal);
      await verifier.close();
      verifier = open();
      await vi.waitFor(async () => expect(await driver.list(signal)).toEqual([]), WAIT);
    });
  });
}
