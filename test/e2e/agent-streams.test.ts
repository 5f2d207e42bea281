/** Our own commands that reach into agents, as a person runs them, and the client library; and what the server refuses. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect as connectSocket, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { Exec, KubeConfig, Log, PortForward } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { agentIdentity } from '#server/auth/identity.ts';
import { clientFrame } from '../../src/server/websocket/client.fixture.ts';
import { temporaryFolder } from '../support/daemon.ts';
import { type AgentServer, serveAgents } from '../support/fake-agent-io.ts';
import { hasTerminals, startOnTerminal } from '../support/terminal.ts';

const WAIT = { timeout: 30_000, interval: 20 };
const program = join(import.meta.dirname, '..', '..', 'dist', 'agentiso.js');

const { folder, remove } = temporaryFolder();
let served: AgentServer;
beforeAll(async () => {
  served = await serveAgents(folder);
  await served.addAgent('worker');
  await served.addAgent('other');
  for (const line of ['one', 'two', 'three']) served.io.say('worker', line);
  served.io.say('other', 'hello');
});
afterAll(async () => {
  await served.close();
  await vi.waitFor(() => expect(served.io.running.size).toBe(0), WAIT);
  remove();
});

interface Run {
  readonly child: ChildProcessWithoutNullStreams;
  readonly result: Promise<{ code: number | null; stdout: Buffer; stderr: string }>;
  said(text: string): Promise<string>;
}

function start(args: readonly string[], input?: Buffer | string): Run {
  const child = spawn(process.execPath, [program, ...args], { cwd: folder, env: { ...process.env, AGENTISO_HOME: served.home } });
  const pieces: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (bytes: Buffer) => pieces.push(bytes));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {}).end(input ?? '');
  const result = new Promise<{ code: number | null; stdout: Buffer; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, stdout: Buffer.concat(pieces), stderr }));
  });
  const said = (text: string) =>
    vi.waitFor(() => {
      const all = `${Buffer.concat(pieces).toString()}${stderr}`;
      expect(all).toContain(text);
      return all;
    }, WAIT);
  return { child, result, said };
}

async function run(args: readonly string[], input?: Buffer | string) {
  const { code, stdout, stderr } = await start(args, input).result;
  return { code, stdout: stdout.toString(), stderr };
}

const ok = (stdout: string) => ({ code: 0, stdout, stderr: '' });

describe('agentiso logs', () => {
  it('prints the log of an agent, by any of its names', async () => {
    for (const name of ['worker', 'agent/worker', 'ag/worker', 'pod/worker']) {
      expect(await run(['logs', name])).toEqual(ok('one\ntwo\nthree\n'));
    }
    expect(await run(['logs', 'worker', '--tail', '1'])).toEqual(ok('three\n'));
    expect((await run(['logs', 'worker', '--tail=1', '--timestamps'])).stdout).toMatch(/^\d{4}-.*Z three\n$/);
    expect(await run(['logs', '-l', 'app', '--prefix', '--tail=1'])).toEqual(ok('[pod/other/agent] hello\n[pod/worker/agent] three\n'));
  });

  it('follows it until Ctrl-C', async () => {
    const following = start(['logs', '-f', 'other']);
    await following.said('hello');
    served.io.say('other', 'more');
    await following.said('more');
    following.child.kill('SIGINT');
    expect((await following.result).code).toBe(130);
  });

  it('prints the output of a task', async () => {
    const draft = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Task', metadata: { name: 'done', namespace: 'default' } };
    const task = await served.client.create({ ...draft, spec: { team: 'crew', command: 'x' } } as never);
    expect(await run(['logs', 'task/done'])).toMatchObject({ code: 1, stderr: 'error: task done has no output yet: it is Pending\n' });
    const running = { ...(task as object), status: { phase: 'Running', owner: 'worker' } };
    const begun = await served.client.updateStatus(running as never);
    expect((await run(['logs', 'task/done'])).stderr).toBe(
      'error: task done has no output yet: it is Running\n(agentiso logs -f worker shows what its agent writes meanwhile)\n',
    );
    const result = { exitCode: 0, stdout: 'from the task\n', stderr: '' };
    await served.client.updateStatus({ ...(begun as object), status: { phase: 'Succeeded', result } } as never);
    expect(await run(['logs', 'task/done'])).toEqual(ok('from the task\n'));
  });

  it('says what is wrong', async () => {
    expect(await run(['logs', 'nobody'])).toMatchObject({
      code: 1,
      stderr: 'Error from server (NotFound): pods "nobody" not found; there is other, worker\n',
    });
    expect(await run(['logs'])).toMatchObject({ code: 2 });
    expect((await run(['logs', 'team/x'])).stderr).toContain('"team/x" names no agent; give agent/NAME, pod/NAME, task/NAME or');
  });
});

describe('agentiso exec', () => {
  it('runs a command with its output and exit code', async () => {
    expect(await run(['exec', 'worker', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3'])).toEqual({
      code: 3,
      stdout: 'out\n',
      stderr: 'err\ncommand terminated with exit code 3\n',
    });
    expect(await run(['exec', '-q', 'agent/worker', '--', 'sh', '-c', 'exit 7'])).toEqual({ code: 7, stdout: '', stderr: '' });
  });

  it('passes bytes in and out as they are, and their end', async () => {
    const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => (at * 31) & 0xff));
    const { code, stdout } = await start(['exec', '-i', 'worker', '--', 'cat'], bytes).result;
    expect([code, stdout.equals(bytes)]).toEqual([0, true]);
  });

  it('ends the command on Ctrl-C', async () => {
    const running = start(['exec', 'worker', '--', 'sh', '-c', 'echo begun; exec sleep 1000']);
    await running.said('begun');
    running.child.kill('SIGINT');
    expect((await running.result).code).toBe(130);
    await vi.waitFor(() => expect(served.io.running.size).toBe(0), WAIT);
  });

  it('ends the command when the reader of its output has seen enough', async () => {
    const line = `'${process.execPath}' '${program}' exec worker -- yes | head -n 1`;
    const child = spawn('bash', ['-c', `set -o pipefail; ${line}`], { env: { ...process.env, AGENTISO_HOME: served.home } });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    }
    expect([await new Promise((resolve) => child.on('close', resolve)), said]).toEqual([141, 'y\n']);
    await vi.waitFor(() => expect(served.io.running.size).toBe(0), WAIT);
  });

  it('says why it cannot', async () => {
    await served.addAgent('halted');
    served.io.stop('halted');
    expect(await run(['exec', 'halted', '--', 'true'])).toMatchObject({ code: 1, stderr: expect.stringContaining('container not found') });
    expect(await run(['exec', 'worker'])).toMatchObject({ code: 2, stderr: expect.stringContaining('at least one command') });
    await served.client.delete({ kind: 'Agent', namespace: 'default', name: 'halted' });
  });

  it.runIf(hasTerminals)('gives a terminal, of the size of this one, and restores it', async () => {
    const terminal = startOnTerminal(['exec', '-it', 'worker', '--', 'sh'], {
      cwd: folder,
      env: { AGENTISO_HOME: served.home },
      columns: 99,
    });
    await vi.waitFor(() => expect(terminal.text()).toMatch(/[$#] $/), WAIT);
    await vi.waitFor(
      () => {
        terminal.type('stty size\r');
        expect(terminal.text()).toContain('24 99');
      },
      { timeout: 30_000, interval: 300 },
    );
    terminal.type('exit 4\r');
    expect(await terminal.code).toBe(4);
  });

  it('works over HTTPS with a kubeconfig', async () => {
    expect(await run(['exec', '--kubeconfig', served.kubeconfig, 'worker', '--', 'echo', 'there'])).toEqual(ok('there\n'));
    expect(await run(['logs', '--kubeconfig', served.kubeconfig, 'worker', '--tail=1'])).toEqual(ok('three\n'));
  });
});

describe('agentiso attach and top', () => {
  it('shows what comes', async () => {
    const attached = start(['attach', 'worker']);
    await vi.waitFor(async () => {
      served.io.say('worker', 'heard');
      expect(await Promise.race([attached.said('heard'), Promise.resolve('')])).toContain('heard');
    }, WAIT);
    attached.child.kill('SIGINT');
    expect((await attached.result).code).toBe(130);
  });

  it('shows what agents use', async () => {
    const table = /^NAME +CPU\(cores\) +MEMORY\(bytes\)\nother +12m +34Mi\nworker +12m +34Mi\n$/;
    expect((await run(['top', 'agents'])).stdout).toMatch(table);
    expect((await run(['top', 'pod', 'worker', '--no-headers'])).stdout).toMatch(/^worker +12m +34Mi\n$/);
    expect((await run(['top', 'pods', '-A'])).stdout).toMatch(/^NAMESPACE +NAME/);
    expect(await run(['top', 'teams'])).toMatchObject({ code: 2 });
  });
});

describe('agentiso cp', () => {
  it('copies files and folders both ways, with long names and modes', async () => {
    const deep = join('tree', 'x'.repeat(120), 'empty');
    mkdirSync(join(folder, deep), { recursive: true });
    const bytes = Buffer.from(Array.from({ length: 1_000_003 }, (_, at) => (at * 13) & 0xff));
    writeFileSync(join(folder, 'tree', 'x'.repeat(120), `${'ü'.repeat(60)}.bin`), bytes, { mode: 0o750 });
    symlinkSync('/etc/passwd', join(folder, 'tree', 'link'));
    const up = await run(['cp', 'tree', 'worker:up']);
    expect(up).toEqual({ code: 0, stdout: '', stderr: `skipping tree/link: it is neither a file nor a folder\n` });
    const place = join(served.io.folder('worker'), 'up', 'x'.repeat(120), `${'ü'.repeat(60)}.bin`);
    expect(readFileSync(place).equals(bytes)).toBe(true);
    expect(lstatSync(place).mode & 0o777).toBe(0o750);
    symlinkSync('/etc/passwd', join(served.io.folder('worker'), 'up', 'link'));
    const down = await run(['cp', 'agent/worker:up', 'down']);
    expect(down).toEqual({ code: 0, stdout: '', stderr: `skipping "./up/link": it is neither a file nor a folder\n` });
    const back = join(folder, 'down', 'x'.repeat(120), `${'ü'.repeat(60)}.bin`);
    expect([readFileSync(back).equals(bytes), lstatSync(back).mode & 0o777]).toEqual([true, 0o750]);
    // Into what is there already.
    mkdirSync(join(folder, 'there'));
    expect(await run(['cp', `default/worker:up/${'x'.repeat(120)}/${'ü'.repeat(60)}.bin`, 'there'])).toEqual(ok(''));
    expect(readFileSync(join(folder, 'there', `${'ü'.repeat(60)}.bin`)).equals(bytes)).toBe(true);
    expect(await run(['cp', 'there', 'worker:up'])).toEqual(ok(''));
    expect(readFileSync(join(served.io.folder('worker'), 'up', 'there', `${'ü'.repeat(60)}.bin`)).equals(bytes)).toBe(true);
  });

  it('says what is not there', async () => {
    expect(await run(['cp', 'nothing', 'worker:x'])).toMatchObject({
      code: 1,
      stderr: "error: nothing doesn't exist in local filesystem\n",
    });
    const { code, stderr } = await run(['cp', 'worker:nothing', 'x']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('nothing')]);
    expect(await run(['cp', 'a', 'b'])).toMatchObject({ code: 2 });
  });
});

function shouter() {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => socket.write(bytes.toString('latin1').toUpperCase(), 'latin1'));
    socket.on('end', () => socket.end('bye\n'));
  });
  return new Promise<{ port: number; close(): void }>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ port: (server.address() as { port: number }).port, close: () => server.close() }));
  });
}

function shout(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connectSocket({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.end(text));
    let heard = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      heard += chunk;
    });
    socket.on('error', reject);
    socket.on('end', () => resolve(heard));
  });
}

describe('agentiso port-forward', () => {
  it('passes on many connections at once, each with its own ends', async () => {
    const target = await shouter();
    const forwarding = start(['port-forward', 'worker', `:${target.port}`]);
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(await forwarding.said('Forwarding from'))?.[1]);
    const texts = Array.from({ length: 10 }, (_, at) => `connection ${at} `.repeat(20_000));
    const answers = await Promise.all(texts.map((text) => shout(port, text)));
    expect(answers.map((answer, at) => answer === `${texts[at]?.toUpperCase()}bye\n`)).toEqual(texts.map(() => true));
    target.close();
    await shout(port, 'x').catch(() => '');
    await forwarding.said('ECONNREFUSED');
    forwarding.child.kill('SIGINT');
    expect((await forwarding.result).code).toBe(130);
  });

  it('refuses what is no port', async () => {
    expect((await run(['port-forward', 'worker', '99999'])).stderr).toContain('"99999" names no ports; give PORT, LOCAL:REMOTE');
  });
});

describe('the client library', () => {
  const config = () => {
    const kubeconfig = new KubeConfig();
    kubeconfig.loadFromFile(served.kubeconfig);
    return kubeconfig;
  };

  it('runs commands', async () => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const status = await new Promise((resolve, reject) => {
      new Exec(config())
        .exec('default', 'worker', 'agent', ['sh', '-c', 'echo from the library; exit 2'], stdout, stderr, null, false, resolve)
        .catch(reject);
    });
    expect(stdout.read()?.toString()).toBe('from the library\n');
    expect(status).toMatchObject({
      status: 'Failure',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '2' }] },
    });
  });

  it('reads logs and forwards ports', async () => {
    const log = new PassThrough();
    await new Log(config()).log('default', 'worker', 'agent', log, { tailLines: 1 });
    await vi.waitFor(() => expect(log.readableLength).toBeGreaterThan(0), WAIT);
    const target = await shouter();
    const [output, input] = [new PassThrough(), new PassThrough()];
    const socket = await new PortForward(config()).portForward('default', 'worker', [target.port], output, null, input);
    input.write('hello');
    let heard = '';
    output.on('data', (bytes: Buffer) => {
      heard += bytes.toString();
    });
    await vi.waitFor(() => expect(heard).toBe('HELLO'), WAIT);
    (socket as { close(): void }).close();
    target.close();
  });
});

/** A connection on which a WebSocket was asked for. */
function ask(path: string, headers: Readonly<Record<string, string>> = {}): TLSSocket {
  const { port, ca, token } = served.server;
  const all = {
    Host: '127.0.0.1',
    Authorization: `Bearer ${token}`,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': Buffer.alloc(16, 7).toString('base64'),
    'Sec-WebSocket-Protocol': 'v4.channel.k8s.io',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connectTls({ host: '127.0.0.1', port, ca, servername: 'localhost' });
  socket.write(`GET /api/v1/namespaces/default/pods/${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return socket;
}

/** Everything that is answered, until the connection closes. */
function handshake(path: string, headers?: Readonly<Record<string, string>>, more: Buffer = Buffer.alloc(0)): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = ask(path, headers);
    socket.write(more);
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

describe('the server', () => {
  const EXEC = 'worker/exec?command=echo&command=hi&stdout=1';

  it('forwards ports in v4 for a library that offers v5 first, as Kubernetes does, and runs commands in v5', async () => {
    const offer = { 'Sec-WebSocket-Protocol': 'v5.channel.k8s.io,v4.channel.k8s.io' };
    const chosen = async (path: string) => /Sec-WebSocket-Protocol: (\S+)/.exec(await handshake(path, offer))?.[1];
    expect(await chosen('worker/portforward?ports=1')).toBe('v4.channel.k8s.io');
    expect(await chosen(EXEC)).toBe('v5.channel.k8s.io');
  });

  it('forwards ports for a library that offers no protocol, and names none', async () => {
    const answer = await handshake('worker/portforward?ports=1', { 'Sec-WebSocket-Protocol': '' });
    expect(answer).toMatch(/^HTTP\/1\.1 101 /);
    expect(answer).not.toContain('Sec-WebSocket-Protocol');
    expect(await handshake(EXEC, { 'Sec-WebSocket-Protocol': '' })).toContain('400 Bad Request');
  });

  it('refuses who may not, before anything begins', async () => {
    const viewer = await served.tokens.issue({ role: 'viewer', user: 'eve' });
    const agent = served.tokens.issueTransient(agentIdentity({ namespace: 'default', team: 'crew', name: 'worker' }));
    const first = (text: string) => text.split('\r\n')[0];
    expect(first(await handshake(EXEC, { Authorization: 'Bearer wrong' }))).toBe('HTTP/1.1 401 Unauthorized');
    for (const token of [viewer, agent]) {
      for (const path of [EXEC, 'worker/attach?stdout=1', 'worker/portforward?ports=80']) {
        const answer = await handshake(path, { Authorization: `Bearer ${token}` });
        expect(first(answer)).toBe('HTTP/1.1 403 Forbidden');
        expect(answer).toContain('"reason":"Forbidden"');
      }
    }
    expect(first(await handshake(EXEC, { Origin: 'https://example.com' }))).toBe('HTTP/1.1 403 Forbidden');
    expect(first(await handshake(EXEC, { Host: 'example.com' }))).toBe('HTTP/1.1 403 Forbidden');
    expect(first(await handshake(EXEC, { 'Sec-WebSocket-Protocol': 'v1.other' }))).toBe('HTTP/1.1 400 Bad Request');
    expect(first(await handshake(EXEC, { 'Sec-WebSocket-Key': 'short' }))).toBe('HTTP/1.1 400 Bad Request');
    expect(first(await handshake('worker/exec?stdout=1'))).toBe('HTTP/1.1 400 Bad Request');
    expect(first(await handshake('worker/exec?command=x'))).toBe('HTTP/1.1 400 Bad Request');
    expect(first(await handshake('nobody/exec?command=x&stdout=1'))).toBe('HTTP/1.1 404 Not Found');
    expect(first(await handshake('worker/log'))).toBe('HTTP/1.1 400 Bad Request');
    expect(first(await handshake(EXEC))).toBe('HTTP/1.1 101 Switching Protocols');
  });

  it('hangs up on garbage, and ends the command', async () => {
    const seed = Date.now() % 1_000_000;
    console.info(`seed ${seed}`);
    let state = seed;
    const random = () => {
      state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
      return state >> 8;
    };
    for (let round = 0; round < 20; round++) {
      const garbage = Buffer.from(Array.from({ length: 200 }, () => random() & 0xff));
      const answer = await handshake('worker/exec?command=sleep&command=1000&stdout=1', {}, Buffer.concat([Buffer.from([0x70]), garbage]));
      expect(answer).toContain('101 Switching Protocols');
    }
    await vi.waitFor(() => expect(served.io.running.size).toBe(0), WAIT);
  });

  it('holds back a command whose output nobody reads, and ends it with the client', async () => {
    const script = 'while :; do head -c 65536 /dev/zero; echo >> progress; done';
    const socket = ask(`worker/exec?command=sh&command=-c&command=${encodeURIComponent(script)}&stdout=1`);
    const progress = () => lstatSync(join(served.io.folder('worker'), 'progress'), { throwIfNoEntry: false })?.size ?? 0;
    let before = -1;
    // Nothing tells that it has come to a stop but that it does not go on.
    await vi.waitFor(
      () => {
        const now = progress();
        const isStopped = now > 0 && now === before;
        before = now;
        expect(isStopped).toBe(true);
      },
      { timeout: 30_000, interval: 500 },
    );
    // What sockets and pipes hold, and no more: 64 KiB each.
    expect(progress()).toBeLessThan(300);
    socket.destroy();
    await vi.waitFor(() => expect(served.io.running.size).toBe(0), WAIT);
  });

  it('holds back a client whose input nobody reads, and ends the command with it', async () => {
    const socket = ask('worker/exec?command=sleep&command=1000&stdin=1&stdout=1');
    const frame = clientFrame(2, Buffer.alloc(1024 * 1024));
    for (let count = 0; count < 50; count++) socket.write(frame);
    await vi.waitFor(() => expect(served.io.running.size).toBe(1), WAIT);
    let before = -1;
    await vi.waitFor(
      () => {
        const isStopped = socket.writableLength === before;
        before = socket.writableLength;
        expect(isStopped).toBe(true);
      },
      { timeout: 30_000, interval: 500 },
    );
    expect(socket.writableLength).toBeGreaterThan(20 * 1024 * 1024);
    socket.destroy();
    await vi.waitFor(() => expect(served.io.running.size).toBe(0), { timeout: 40_000, interval: 100 });
  });

  it('lets nobody have more than 64 streams', async () => {
    const token = await served.tokens.issue({ role: 'admin', user: 'many' });
    const own = { Authorization: `Bearer ${token}` };
    const open: Promise<string>[] = [];
    for (let count = 0; count < 64; count++) open.push(handshake('worker/exec?command=sleep&command=1000&stdout=1', own));
    await vi.waitFor(() => expect(served.io.running.size).toBe(64), WAIT);
    expect(await handshake(EXEC, own)).toContain('429 Too Many Requests');
    expect(await handshake(EXEC)).toContain('101 Switching Protocols');
    served.endStreams('many');
    await Promise.all(open);
    await vi.waitFor(() => expect(served.io.running.size).toBe(0), WAIT);
  });
});
