import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import { createSessions, type RelayDesk } from '#guest/create-sessions.ts';
import type { Sessions } from '#guest/sessions.ts';
import type { WorkspaceIo } from '#mcp/workspace-io.ts';
import { bundleGuest, type GuestBundle } from '../../../test/support/guest-bundle.ts';
import { GUEST_ID, isPidAlive, type RunningGuest, startGuestProcess } from '../../../test/support/running-guest.ts';
import { createWorkspaceIo } from './workspace-io.ts';

const WAIT = { timeout: 10_000, interval: 20 };
const HERE = { namespace: 'default', agent: 'sprint-coder' };
const ABSENT = { namespace: 'default', agent: 'sprint-asleep' };
const { signal } = new AbortController();

let bundle: GuestBundle;
let guest: RunningGuest;
let sessions: Sessions;
let io: WorkspaceIo;

function agentObject(name: string, uid: string, phase: string, desiredState = 'Running'): Agent {
  return { metadata: { name, namespace: 'default', uid }, spec: { team: 'sprint', desiredState }, status: { phase } } as unknown as Agent;
}

const agents = new Map([
  [HERE.agent, agentObject(HERE.agent, GUEST_ID.id, 'Ready')],
  [ABSENT.agent, agentObject(ABSENT.agent, 'uid-asleep', 'Stopped', 'Stopped')],
]);

beforeAll(async () => {
  bundle = await bundleGuest();
  guest = await startGuestProcess(bundle.path);
  sessions = createSessions({
    version: 'test',
    desk: {} as RelayDesk,
    async dial(_id, port) {
      const socket = connect(port === 'control' ? guest.controlPath : guest.relayPath);
      await once(socket, 'connect');
      return socket;
    },
  });
  sessions.ensure(GUEST_ID.id, GUEST_ID.incarnation);
  await vi.waitFor(() => expect(sessions.get(GUEST_ID.id)?.state.isControlOpen).toBe(true), WAIT);
  io = createWorkspaceIo({ sessions, driverOf: () => undefined, agentOf: ({ agent }) => agents.get(agent) });
});

afterAll(async () => {
  sessions?.closeAll();
  await guest?.stop();
  await bundle?.remove();
});

const run = (command: string, options: Partial<Parameters<WorkspaceIo['exec']>[2]> = {}) =>
  io.exec(HERE, { command }, { timeoutMs: 30_000, maxOutputBytes: 1000, signal, ...options });

const pidsIn = (file: string) =>
  vi.waitFor(async () => {
    const text = await readFile(join(guest.workspace, file), 'utf8');
    expect(text).toMatch(/\n$/);
    return text.trim().split(' ').map(Number);
  }, WAIT);
const gone = (pids: readonly number[]) => vi.waitFor(() => expect(pids.filter(isPidAlive)).toEqual([]), WAIT);

describe('a command', () => {
  it('gives both streams, the exit code, and its output as it comes', async () => {
    const seen: string[] = [];
    const onOutput = (chunk: Buffer) => seen.push(String(chunk));
    expect(await run('echo out; echo err >&2; exit 3', { onOutput })).toEqual({
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
      stdoutTruncated: false,
      stderrTruncated: false,
      timedOut: false,
      elapsedMs: expect.any(Number),
    });
    expect(seen.sort()).toEqual(['err\n', 'out\n']);
  });

  it('is cut between characters, counted, and read to its end', async () => {
    const { stdout, stdoutTruncated, exitCode } = await run('printf ab; yes "€" | tr -d "\\n" | head -c 3000000; exit 4');
    expect(stdout).toBe(`ab${'€'.repeat(332)}\n[TRUNCATED: 3000002 bytes total, showing first 998 bytes]`);
    expect([stdoutTruncated, exitCode]).toEqual([true, 4]);
  });

  it('is ended after its time with everything it started', async () => {
    const result = await run('echo begun; (sleep 1000; true) & echo $$ $! > late.pids; wait', { timeoutMs: 300 });
    expect(result).toMatchObject({ exitCode: -1, timedOut: true, stdout: 'begun\n' });
    await gone(await pidsIn('late.pids'));
  });

  it('is ended with everything it started when nobody waits for it any more', async () => {
    const leaving = new AbortController();
    const running = run('sleep 1000 & echo $$ $! > cancelled.pids; wait', { signal: leaving.signal });
    const pids = await pidsIn('cancelled.pids');
    leaving.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    await gone(pids);
  });

  it('that cannot be started says why, and nothing of where the workspace really is', async () => {
    await writeFile(join(guest.workspace, 'file'), '');
    const inFolder = (cwd: string) => io.exec(HERE, { command: 'true', cwd }, { timeoutMs: 10_000, maxOutputBytes: 1000, signal });
    const failed = [await inFolder('missing'), await inFolder('file'), await inFolder('..'), await inFolder('a\0b')];
    expect(failed.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual([
      [-1, 'exec failed: missing does not exist\n'],
      [-1, 'exec failed: what it should run in is not a directory\n'],
      [-1, 'exec failed: .. is outside the workspace\n'],
      [-1, expect.stringMatching(/^exec failed: .*zero byte/)],
    ]);
    expect(JSON.stringify(failed)).not.toContain(guest.directory);
  });
});

describe('files', () => {
  it('go there and back in pieces, whole or in parts', async () => {
    const content = randomBytes(3_000_001);
    await io.writeFile(HERE, { path: 'deep/er/data', content, mode: 0o600 }, signal);
    const whole = await io.readFile(HERE, { path: 'deep/er/data' }, signal);
    expect([whole.content.equals(content), whole.size]).toEqual([true, content.length]);
    const part = await io.readFile(HERE, { path: 'deep/er/data', offset: 2_999_990, limit: 100 }, signal);
    expect([part.content.equals(content.subarray(2_999_990)), part.size]).toEqual([true, content.length]);
    await io.writeFile(HERE, { path: 'deep/er/data', content: Buffer.from('!'), append: true }, signal);
    expect((await stat(join(guest.workspace, 'deep/er/data'))).size).toBe(content.length + 1);
    expect(await io.listFiles(HERE, 'deep/er', signal)).toEqual([
      { name: 'data', kind: 'file', size: content.length + 1, permissions: '600', modified: expect.stringMatching(/Z$/) },
    ]);
  });

  it('are edited, and say where nothing can be', async () => {
    await writeFile(join(guest.workspace, 'text'), 'a b a');
    expect(await io.editFile(HERE, { path: 'text', oldText: 'a', newText: 'c' }, signal)).toEqual({ matches: 2 });
    expect(await readFile(join(guest.workspace, 'text'), 'utf8')).toBe('c b a');
    await symlink('/etc', join(guest.workspace, 'out'));
    await mkdir(join(guest.workspace, 'folder'));
    await symlink(join(guest.workspace, 'folder'), join(guest.workspace, 'to-folder'));
    const wrong: readonly [string, () => Promise<unknown>][] = [
      ['Forbidden ../x is outside the workspace', () => io.readFile(HERE, { path: '../x' }, signal)],
      ['Forbidden out/passwd is outside the workspace', () => io.readFile(HERE, { path: 'out/passwd' }, signal)],
      ['Forbidden out/new is outside the workspace', () => io.writeFile(HERE, { path: 'out/new', content: Buffer.from('x') }, signal)],
      ['NotFound none does not exist', () => io.readFile(HERE, { path: 'none' }, signal)],
      ['Invalid folder is not a plain file', () => io.writeFile(HERE, { path: 'to-folder', content: Buffer.from('x') }, signal)],
    ];
    for (const [want, asked] of wrong) {
      const error = (await asked().catch((refusal: unknown) => refusal)) as { code: string; message: string };
      expect(`${error.code} ${error.message}`).toBe(want);
    }
  });
});

describe('jobs, variables and the log', () => {
  it('pass through', async () => {
    await io.setEnv(HERE, { GREETING: 'hello' }, signal);
    const { jobId } = await io.startJob(HERE, { command: 'echo $GREETING; echo bad >&2; sleep 1000' }, signal);
    const job = await vi.waitFor(async () => {
      const polled = await io.pollJob(HERE, { jobId }, signal);
      expect(polled).toMatchObject({ stdout: 'hello\n', stderr: 'bad\n' });
      return polled;
    }, WAIT);
    expect(job).toEqual({ isRunning: true, stdout: 'hello\n', stderr: 'bad\n', stdoutOffset: 6, stderrOffset: 4 });
    expect(await io.killJob(HERE, { jobId, signalNumber: 9 }, signal)).toEqual({ isRunning: false, exitCode: 137 });
    expect(await io.pollJob(HERE, { jobId, stdoutOffset: 6, stderrOffset: 4 }, signal)).toMatchObject({ stdout: '', exitCode: 137 });
    const log = await io.logs(HERE, { tailLines: 100, maxBytes: 100_000 }, signal);
    expect(log).toEqual({ text: expect.any(String), isTruncated: false });
    expect(log.text).not.toContain(guest.directory);
  });
});

describe('an agent that cannot be asked', () => {
  it('is not there, or does not run, and the answer says what to do', async () => {
    await expect(io.listFiles({ namespace: 'other', agent: 'nobody' }, '.', signal)).rejects.toMatchObject({
      code: 'NotFound',
      message: 'there is no agent nobody in namespace other',
      hint: expect.stringContaining('team_status'),
    });
    await expect(io.listFiles(ABSENT, '.', signal)).rejects.toMatchObject({
      code: 'Unavailable',
      message: 'agent sprint-asleep cannot be reached: it is Stopped',
      hint: expect.stringContaining('set it to Running with apply'),
    });
  });

  it('is lost without a word about sockets of this machine', async () => {
    const missing = join(guest.directory, 'no.sock');
    const none = createSessions({
      version: 'test',
      desk: {} as RelayDesk,
      async dial() {
        const socket = connect(missing);
        await once(socket, 'connect');
        return socket;
      },
    });
    none.ensure(GUEST_ID.id, GUEST_ID.incarnation);
    await vi.waitFor(() => expect(none.get(GUEST_ID.id)?.state.problem).toContain(missing), WAIT);
    const lost = createWorkspaceIo({ sessions: none, driverOf: () => undefined, agentOf: ({ agent }) => agents.get(agent) });
    const error = (await lost.listFiles(HERE, '.', signal).catch((refusal: unknown) => refusal)) as Error;
    expect(error).toMatchObject({ code: 'Unavailable', message: 'agent sprint-coder cannot be reached: its guest does not answer' });
    none.closeAll();
  });
});
