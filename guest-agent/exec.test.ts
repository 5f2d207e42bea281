import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ExecParams, ExecResult } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { bundleGuest, type GuestBundle } from '../test/support/guest-bundle.ts';
import { isPidAlive, type RunningGuest, startGuestProcess } from '../test/support/running-guest.ts';

let bundle: GuestBundle;
let guest: RunningGuest;

beforeAll(async () => {
  bundle = await bundleGuest();
  guest = await startGuestProcess(bundle.path);
});

afterAll(async () => {
  await guest?.stop();
  await bundle?.remove();
});

function exec(params: Partial<ExecParams>): Promise<ExecResult> {
  return guest.client.call('exec', { timeoutMs: 30_000, ...params } as ExecParams);
}

/** Resolves when a command has written its pids. */
function pidsIn(file: string): Promise<number[]> {
  return vi.waitFor(async () => {
    const text = await readFile(join(guest.workspace, file), 'utf8');
    expect(text).toMatch(/\n$/);
    return text.trim().split(/\s+/).map(Number);
  }, 10_000);
}

const gone = (pids: readonly number[]) => vi.waitFor(() => expect(pids.filter(isPidAlive)).toEqual([]), 10_000);

describe('exec', () => {
  it('runs a shell command and gives back both streams and the exit code', async () => {
    expect(await exec({ command: 'echo out; echo err >&2; exit 3' })).toEqual({
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
      stdoutTruncated: false,
      stderrTruncated: false,
      timedOut: false,
      elapsedMs: expect.any(Number),
    });
  });

  it('runs an argv without a shell', async () => {
    expect(await exec({ argv: ['printf', '%s', '$HOME; *'] })).toMatchObject({ exitCode: 0, stdout: '$HOME; *' });
  });

  it('has nothing to read on stdin', async () => {
    expect(await exec({ command: 'cat' })).toMatchObject({ exitCode: 0, stdout: '' });
  });

  it('can open its outputs again by their names', async () => {
    const command = 'echo one > /dev/stdout; echo two > /dev/stderr; echo three | tee /dev/stderr';
    expect(await exec({ command })).toMatchObject({ stdout: 'one\nthree\n', stderr: 'two\nthree\n', exitCode: 0 });
  });

  it('gets nothing of a command before it, whose process still writes', async () => {
    const noise = '(setsid sh -c "while [ ! -e quiet ]; do echo noise; sleep 0.01; done") & echo first';
    expect((await exec({ command: noise })).stdout).toContain('first\n');
    for (let i = 0; i < 10; i++) expect(await exec({ command: 'sleep 0.02; echo mine' })).toMatchObject({ stdout: 'mine\n', stderr: '' });
    await writeFile(join(guest.workspace, 'quiet'), '');
  });

  it('says 128 + n for a command ended by a signal', async () => {
    expect(await exec({ command: 'kill -9 $$' })).toMatchObject({ exitCode: 137, timedOut: false });
  });

  it.each([
    { name: 'a missing program', params: { argv: ['/no/such/program'] } },
    { name: 'a zero byte in an argument', params: { argv: ['echo', 'a\0b'] } },
    { name: 'a missing directory', params: { command: 'pwd', cwd: 'missing' } },
  ])('makes a result of $name', async ({ params }) => {
    const result = await exec(params);
    expect(result).toMatchObject({ exitCode: -1, timedOut: false, stderr: expect.stringMatching(/^exec failed: /) });
    // Where the workspace really lies is nobody's business.
    expect(result.stderr).not.toContain(guest.directory);
  });

  it('reads more than 2 MiB on both streams while the command runs, and keeps what fits', async () => {
    const many = 'head -c 5000000 /dev/zero | tr "\\0" x';
    const result = await exec({ command: `${many}; ${many} >&2; exit 7` });
    expect(result).toMatchObject({ exitCode: 7, stdoutTruncated: true, stderrTruncated: true });
    for (const text of [result.stdout, result.stderr]) {
      expect(text).toMatch(/^x+\n\[TRUNCATED: 5000000 bytes total, showing first \d+ bytes\]$/);
      expect(text.length).toBeGreaterThan(2_000_000);
    }
  });

  it('keeps 2 MiB of one stream and cuts between characters', async () => {
    const { stdout, stdoutTruncated } = await exec({ command: 'printf ab; yes "€€€€" | tr -d "\\n" | head -c 3000000' });
    expect(stdoutTruncated).toBe(true);
    const kept = stdout.slice(0, stdout.indexOf('\n[TRUNCATED: 3000002 bytes total, '));
    expect(kept).toMatch(/^ab€+$/);
    // 2 MiB less the two letters is not a multiple of three.
    expect(Buffer.byteLength(kept)).toBe(2 + Math.floor((2 * 1024 * 1024 - 2) / 3) * 3);
  });
});

describe('the environment of an exec', () => {
  it('is a few names of the guest, the workspace, and what the caller gave', async () => {
    const { stdout } = await exec({ argv: ['env'], env: { EXTRA: 'one two' } });
    const names = stdout
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
    expect(stdout).toContain('EXTRA=one two\n');
    expect(stdout).toContain(`AGENTISO_WORKSPACE=${guest.workspace}\n`);
    const own = ['AGENTISO_WORKSPACE', 'AGENTISO_SOCKET', 'AGENTISO_NODE'];
    expect(['PATH', 'HOME', 'LANG', 'TERM', 'SHELL', ...own, 'EXTRA']).toEqual(expect.arrayContaining(names));
  });

  it('leads to the command of the team, behind everything else in PATH', async () => {
    const { stdout } = await exec({ command: 'echo "$AGENTISO_SOCKET"; echo "$PATH"; command -v team; team help' });
    const [socket, path, command, title] = stdout.split('\n');
    const bin = join(dirname(bundle.path), 'bin');
    expect([socket, command]).toEqual([join(guest.runDir, 'agent.sock'), join(bin, 'team')]);
    expect(path?.split(':').at(-1)).toBe(bin);
    expect(title).toMatch(/^team: what an agent can do/);
    await exec({ command: 'mkdir own && printf "#!/bin/sh\\necho mine\\n" > own/team && chmod +x own/team' });
    expect(await exec({ command: 'PATH="$PWD/own:$PATH"; team help' })).toMatchObject({ stdout: 'mine\n' });
  });

  it.each(['PATH', 'IFS', 'ENV', 'BASH_ENV', 'LD_PRELOAD'])('may not set %s, and then nothing runs', async (name) => {
    const result = await exec({ command: 'touch ran', env: { FINE: '1', [name]: 'x' } });
    expect(result).toMatchObject({ exitCode: -1, stderr: expect.stringContaining(name) });
    expect(await exec({ command: 'test -e ran' })).toMatchObject({ exitCode: 1 });
  });
});

describe('setEnv', () => {
  it('gives later commands its names, which the caller of an exec may change for one', async () => {
    await guest.client.call('setEnv', { env: { FROM_SET: 'one', OTHER: 'two' } });
    await guest.client.call('setEnv', { env: { OTHER: 'three' } });
    expect(await exec({ command: 'echo $FROM_SET $OTHER' })).toMatchObject({ stdout: 'one three\n' });
    expect(await exec({ command: 'echo $FROM_SET $OTHER', env: { OTHER: 'four' } })).toMatchObject({ stdout: 'one four\n' });
  });

  it.each([
    { name: 'LD_PRELOAD', code: 'Forbidden' },
    { name: 'PATH', code: 'Forbidden' },
    { name: 'not a name', code: 'Invalid' },
  ])('refuses $name and then sets nothing at all', async ({ name, code }) => {
    await expect(guest.client.call('setEnv', { env: { GOOD: '1', [name]: 'x' } })).rejects.toMatchObject({ code });
    expect(await exec({ command: 'echo "[$GOOD]"' })).toMatchObject({ stdout: '[]\n' });
  });
});

describe('the directory of an exec', () => {
  it('is the workspace, or below it by either name', async () => {
    await mkdir(join(guest.workspace, 'sub'), { recursive: true });
    expect(await exec({ command: 'pwd' })).toMatchObject({ stdout: `${guest.workspace}\n` });
    expect(await exec({ command: 'pwd', cwd: '/workspace/sub' })).toMatchObject({ stdout: `${guest.workspace}/sub\n` });
    expect(await exec({ command: 'pwd', cwd: 'sub' })).toMatchObject({ stdout: `${guest.workspace}/sub\n` });
  });

  it('cannot leave the workspace by .. or by a link', async () => {
    await symlink('/', join(guest.workspace, 'way-out'));
    await writeFile(join(guest.workspace, 'file'), '');
    for (const cwd of ['..', '/workspace/../..', '/etc', 'way-out', '/workspace/way-out/etc']) {
      expect(await exec({ command: 'pwd', cwd })).toMatchObject({
        exitCode: -1,
        stdout: '',
        stderr: expect.stringContaining('outside the workspace'),
      });
    }
  });
});

describe('the processes of an exec', () => {
  it('are all gone after a timeout, also those that ignore SIGTERM', async () => {
    const stubborn = `trap "" TERM; while :; do sleep 1; done`;
    const result = await exec({ command: `echo partial; (${stubborn}) & echo $$ $! > timeout.pids; wait`, timeoutMs: 300 });
    expect(result).toMatchObject({ exitCode: -1, timedOut: true, stdout: 'partial\n', stderr: 'task timed out after 0.3s' });
    const pids = await pidsIn('timeout.pids');
    expect(pids).toHaveLength(2);
    await gone(pids);
  });

  it('end with the command that started them, which is not kept waiting', async () => {
    const result = await exec({ command: 'sleep 1000 & echo $! > behind.pids; echo done' });
    expect(result).toMatchObject({ exitCode: 0, stdout: 'done\n' });
    await gone(await pidsIn('behind.pids'));
  });

  it('are all gone after a cancel', async () => {
    const controller = new AbortController();
    const params = { command: 'sleep 1000 & echo $$ $! > cancel.pids; wait', timeoutMs: 30_000 };
    const call = guest.client.call('exec', params, { signal: controller.signal });
    const pids = await pidsIn('cancel.pids');
    expect(pids.every(isPidAlive)).toBe(true);
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrowError('enough');
    await gone(pids);
  });

  it('go on when the connection is lost', async () => {
    const client = await guest.connectAgain();
    const command = 'echo $$ > lost.pids; while [ ! -e release ]; do sleep 0.05; done; echo finished > lost.done';
    const call = client.call('exec', { command, timeoutMs: 30_000 });
    const pids = await pidsIn('lost.pids');
    client.close(new ProtocolError('Unavailable', 'connection lost'));
    await expect(call).rejects.toMatchObject({ code: 'Unavailable' });
    await guest.client.call('ping', {});
    expect(pids.every(isPidAlive)).toBe(true);
    await writeFile(join(guest.workspace, 'release'), '');
    await vi.waitFor(async () => expect(await readFile(join(guest.workspace, 'lost.done'), 'utf8')).toBe('finished\n'), 10_000);
  });

  it('do not hold up other requests', async () => {
    const controller = new AbortController();
    const long = guest.client.call('exec', { command: 'sleep 1000', timeoutMs: 30_000 }, { signal: controller.signal });
    expect(await exec({ command: 'echo quick' })).toMatchObject({ stdout: 'quick\n' });
    controller.abort(new Error('enough'));
    await expect(long).rejects.toThrowError('enough');
  });
});
