import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, realpath, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ControlCall, ExecStreamParams } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { bundleGuest, type GuestBundle } from '../test/support/guest-bundle.ts';
import { type ControlChannel, isPidAlive, type RunningGuest, startGuestProcess } from '../test/support/running-guest.ts';
import { execStreamHandlers } from './handlers/exec-stream.ts';
import { AgentLog } from './log/agent-log.ts';
import { ProcessGroups } from './process-group.ts';

let bundle: GuestBundle;
let guest: RunningGuest;
let execs = 0;

beforeAll(async () => {
  bundle = await bundleGuest();
  guest = await startGuestProcess(bundle.path);
});

afterAll(async () => {
  await guest?.stop();
  await bundle?.remove();
});

interface Opened extends ControlCall<'execStream'> {
  readonly execId: string;
}

function open(
  params: Partial<ExecStreamParams>,
  { client = guest.client, signal }: { client?: ControlChannel; signal?: AbortSignal } = {},
): Opened {
  const execId = params.execId ?? `exec-${++execs}`;
  const call = client.open('execStream', { hasStdin: false, ...params, execId } as ExecStreamParams, signal ? { signal } : {});
  call.result.catch(() => {});
  return { ...call, execId };
}

function pidsIn(file: string): Promise<number[]> {
  return vi.waitFor(async () => {
    const content = await readFile(join(guest.workspace, file), 'utf8');
    expect(content).toMatch(/\n$/);
    return content.trim().split(/\s+/).map(Number);
  }, 10_000);
}

const gone = (pids: readonly number[]) => vi.waitFor(() => expect(pids.filter(isPidAlive)).toEqual([]), 10_000);

/** What a stream has given so far, growing. */
function watch(stream: Readable): () => string {
  let seen = '';
  stream.on('data', (chunk) => {
    seen += String(chunk);
  });
  return () => seen;
}

const shows = (screen: () => string, what: RegExp | string) => vi.waitFor(() => expect(screen()).toMatch(what), 10_000);

describe('execStream', () => {
  it('carries input, both outputs and the exit code', async () => {
    const call = open({ command: 'cat; echo err >&2; exit 3', hasStdin: true });
    call.up.stdin.end('typed\n');
    const [stdout, stderr] = await Promise.all([text(call.down.stdout), text(call.down.stderr)]);
    expect({ stdout, stderr }).toEqual({ stdout: 'typed\n', stderr: 'err\n' });
    expect(await call.result).toEqual({ exitCode: 3, timedOut: false });
  });

  it('gives output while the command runs', async () => {
    const call = open({ command: 'echo first; read line; echo "got $line"', hasStdin: true });
    const screen = watch(call.down.stdout);
    await shows(screen, /^first\n$/);
    call.up.stdin.write('second\n');
    await shows(screen, /got second\n$/);
    expect(await call.result).toMatchObject({ exitCode: 0 });
  });

  it('has nothing to read where no input was announced', async () => {
    const call = open({ command: 'cat; echo end' });
    call.down.stderr.resume();
    expect(await text(call.down.stdout)).toBe('end\n');
  });

  it('brings 20 MB through unchanged', async () => {
    const call = open({ command: 'seq 1 3000000' });
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of call.down.stdout) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    expect(await call.result).toEqual({ exitCode: 0, timedOut: false });
    const want = await guest.client.call('exec', {
      command: 'seq 1 3000000 | sha256sum | cut -d" " -f1; seq 1 3000000 | wc -c',
      timeoutMs: 60_000,
    });
    expect(`${hash.digest('hex')}\n${bytes}\n`).toBe(want.stdout);
  });

  it('holds the command back when nobody reads, and loses nothing when somebody does', async () => {
    const call = open({ command: 'seq 1 1000000; echo done > written' });
    call.down.stderr.resume();
    await once(call.down.stdout, 'readable');
    await guest.client.call('ping', {});
    // Far more than all buffers on the way: the command cannot have ended.
    expect(await guest.client.call('exec', { command: 'test -e written', timeoutMs: 10_000 })).toMatchObject({ exitCode: 1 });
    expect((await text(call.down.stdout)).endsWith('999999\n1000000\n')).toBe(true);
    expect(await call.result).toMatchObject({ exitCode: 0 });
  });

  it('gives all the output of a command that ended long before its slow reader', async () => {
    const call = open({ command: 'head -c 300000 /dev/zero | tr "\\0" x' });
    call.down.stderr.resume();
    await once(call.down.stdout, 'readable');
    await guest.client.call('exec', { command: 'sleep 2.5', timeoutMs: 10_000 });
    expect((await text(call.down.stdout)).length).toBe(300_000);
  });

  it('does not mind a command that does not read its input', async () => {
    const call = open({ command: 'exec <&-; echo closed; sleep 0.2', hasStdin: true });
    call.up.stdin.on('error', () => {});
    call.up.stdin.write(Buffer.alloc(1_000_000));
    call.down.stderr.resume();
    expect(await text(call.down.stdout)).toBe('closed\n');
    expect(await call.result).toMatchObject({ exitCode: 0 });
  });

  it('ends the whole group after the timeout', async () => {
    const call = open({ command: 'sleep 1000 & echo $$ $! > st.pids; wait', timeoutMs: 500 });
    for (const stream of Object.values(call.down)) stream.resume();
    const pids = await pidsIn('st.pids');
    expect(await call.result).toEqual({ exitCode: -1, timedOut: true });
    await gone(pids);
  });

  it.each(['cancel', 'lost connection'])('ends the whole group on a %s', async (how) => {
    const controller = new AbortController();
    const client = await guest.connectAgain();
    const file = `${how.replace(' ', '-')}.pids`;
    const call = open({ command: `sleep 1000 & echo $$ $! > ${file}; wait` }, { client, signal: controller.signal });
    const pids = await pidsIn(file);
    expect(pids.every(isPidAlive)).toBe(true);
    if (how === 'cancel') controller.abort(new Error('enough'));
    else client.close(new ProtocolError('Unavailable', 'lost'));
    await expect(call.result).rejects.toThrow();
    await gone(pids);
  });

  it.each([
    {
      name: 'a missing program',
      params: { argv: ['/no/such/program'] },
      says: /^exec failed: \/no\/such\/program: not found, neither as a path nor in the PATH of the agent\n$/,
    },
    { name: 'a blocked name', params: { command: 'true', env: { LD_PRELOAD: 'x' } }, says: /LD_PRELOAD may not be set/ },
    { name: 'a directory outside', params: { command: 'true', cwd: '/etc' }, says: /outside the workspace/ },
  ])('makes a result of $name', async ({ params, says }) => {
    const call = open(params);
    call.down.stdout.resume();
    expect(await text(call.down.stderr)).toMatch(says);
    expect(await call.result).toEqual({ exitCode: -1, timedOut: false });
  });
});

describe('execStream on a terminal', () => {
  const tty = { rows: 33, columns: 101 };

  function openShell(params: Partial<ExecStreamParams> = {}) {
    const call = open({ argv: ['/bin/sh', '-i'], env: { PS1: 'ready> ' }, hasStdin: true, tty, ...params });
    return { ...call, screen: watch(call.down.stdout), type: (keys: string) => call.up.stdin.write(keys) };
  }

  it('is a real terminal with the size that was asked for', async () => {
    const { screen, type, result } = openShell();
    await shows(screen, /ready> $/);
    type('tty; stty size; echo "[$TERM]"; exit 7\n');
    expect(await result).toEqual({ exitCode: 7, timedOut: false });
    expect(screen()).toMatch(/\/dev\/pts\/\d+\r\n33 101\r\n\[xterm\]\r\n/);
  });

  it('echoes what is typed', async () => {
    const { screen, type, result } = openShell({ argv: ['cat'] });
    type('abc\n\x04');
    expect(await result).toMatchObject({ exitCode: 0 });
    expect(screen()).toBe('abc\r\nabc\r\n');
  });

  it('changes its size, and tells the program', async () => {
    const { screen, type, result, execId } = openShell({ argv: ['/bin/bash', '--norc', '-i'] });
    await shows(screen, /ready> /);
    type('trap "echo changed" WINCH; echo set\n');
    await shows(screen, /set\r\n[^\n]*ready> $/);
    await guest.client.call('execResize', { execId, rows: 12, columns: 34 });
    type('stty size; exit\n');
    await result;
    expect(screen()).toMatch(/changed\r\n/);
    expect(screen()).toMatch(/12 34\r\n/);
  });

  it('takes the sizes that come while it is being started, the last of them for good', async () => {
    const { screen, type, result, execId } = openShell();
    const sizes = [12, 34, 56].map((rows) => guest.client.call('execResize', { execId, rows, columns: 77 }));
    await Promise.all(sizes);
    await shows(screen, /ready> $/);
    type('stty size; exit\n');
    await result;
    expect(screen()).toMatch(/\n56 77\r\n/);
  });

  it('has a size that came at once before its command looks', async () => {
    const groups = new ProcessGroups();
    const env = () => ({ PATH: '/usr/bin:/bin' });
    const root = await realpath(guest.workspace);
    const handlers = execStreamHandlers({
      id: 'id',
      incarnation: 'inc',
      root,
      stateDir: root,
      agentSocket: join(root, 'agent.sock'),
      env,
      groups,
      log: new AgentLog(root),
      stop() {},
    });
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const { signal } = new AbortController();
    const ended = handlers.execStream(
      { execId: 'here', argv: ['stty', 'size'], hasStdin: false, tty },
      { signal, up: { stdin }, down: { stdout, stderr } },
    );
    // The command may be over before it can be told.
    handlers.execResize({ execId: 'here', rows: 12, columns: 77 }, { signal, up: {}, down: {} }).catch(() => {});
    expect(await ended).toEqual({ exitCode: 0, timedOut: false });
    expect(String(stdout.read())).toBe('12 77\r\n');
  });

  it('has no size to change when it could not be started', async () => {
    const call = open({ command: 'true', cwd: '/etc', tty });
    for (const stream of Object.values(call.down)) stream.resume();
    const resized = guest.client.call('execResize', { execId: call.execId, rows: 12, columns: 77 });
    await expect(resized).rejects.toMatchObject({ code: 'NotFound' });
    expect(await call.result).toMatchObject({ exitCode: -1 });
  });

  it('turns the byte of Ctrl-C into an interrupt', async () => {
    const { screen, type, result } = openShell();
    await shows(screen, /ready> $/);
    type('sleep 1000\n');
    await shows(screen, /sleep 1000\r\n$/);
    type('\x03');
    await shows(screen, /\^C\r\nready> $/);
    type('echo $?; exit 0\n');
    await result;
    expect(screen()).toMatch(/130\r\n/);
  });

  it('takes any argument as it stands', async () => {
    const words = ["it's", '$HOME `id` "x" \\ * ; |', '', 'two\nlines', '-q', '€'];
    const call = open({ argv: ['/bin/sh', '-c', 'stty -opost; for a; do printf "[%s]" "$a"; done', 'sh', ...words], tty });
    expect(await text(call.down.stdout)).toBe(words.map((word) => `[${word}]`).join(''));
  });

  it('leaves SHELL as the guest has it, and takes TERM from the call', async () => {
    const call = open({ argv: ['/bin/sh', '-c', 'echo "$SHELL $TERM"'], env: { SHELL: '/bin/other' }, tty: { ...tty, term: 'vt100' } });
    expect(await text(call.down.stdout)).toBe('/bin/other vt100\r\n');
  });

  it('says 128 + n for a command ended by a signal', async () => {
    const call = open({ command: 'kill -KILL $$', tty });
    call.down.stdout.resume();
    expect(await call.result).toEqual({ exitCode: 137, timedOut: false });
  });

  it.each(['cancel', 'timeout', 'end'])('leaves nothing of the session behind after a %s', async (how) => {
    const controller = new AbortController();
    const file = `tty-${how}.pids`;
    const jobs = `set -m; trap "" HUP TERM; (trap "" HUP TERM; exec sleep 1000) & echo $$ $! > ${file}`;
    const command = how === 'end' ? jobs : `${jobs}; wait`;
    const call = open({ command, tty, ...(how === 'timeout' && { timeoutMs: 500 }) }, { signal: controller.signal });
    call.down.stdout.resume();
    const pids = await pidsIn(file);
    if (how === 'cancel') {
      controller.abort(new Error('enough'));
      await expect(call.result).rejects.toThrowError('enough');
    } else {
      expect(await call.result).toMatchObject({ timedOut: how === 'timeout' });
    }
    await gone(pids);
  });

  it('knows only terminals that are open', async () => {
    const call = guest.client.call('execResize', { execId: 'nobody', rows: 1, columns: 1 });
    await expect(call).rejects.toMatchObject({ code: 'NotFound' });
  });

  it('refuses a second exec of the same id', async () => {
    const { screen, type, result, execId } = openShell();
    await shows(screen, /ready> $/);
    await expect(open({ command: 'true', execId }).result).rejects.toMatchObject({ code: 'Conflict' });
    type('exit\n');
    await result;
  });
});

describe('a workspace without script', () => {
  it('says which package is missing', async () => {
    const bin = join(guest.directory, 'bin');
    await mkdir(bin);
    for (const name of ['sh', 'tty', 'stty']) await symlink(`/bin/${name}`, join(bin, name));
    const bare = await startGuestProcess(bundle.path, { env: { PATH: bin } });
    const call = open({ command: 'true', tty: { rows: 1, columns: 1 } }, { client: bare.client });
    await expect(call.result).rejects.toMatchObject({ code: 'Unavailable', message: expect.stringContaining('bsdutils') });
    await bare.stop();
  });
});
