/** With unix sockets on both sides: what joins them does not care, and no other family is touched on whatever machine this runs. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ANY_CID, HOST_CID, VSOCK_FAMILY, vsockAddress } from '#protocol/vsock.ts';
import { type Bridge, openBridge, vsockDoors } from './bridge.ts';
import { WELCOME } from './bridge-script.ts';

const UNIX_FAMILY = 1;
/** Of a question. */
const LAST = 0;
const WAIT = { timeout: 10_000, interval: 10 };

let directory: string;
let server: Server;
let bridge: Bridge | undefined;
let accepted: Socket[];
let problems: string[];

const outer = () => join(directory, 'outer.sock');
const inner = () => join(directory, 'inner.sock');
const host = () => join(directory, 'host.sock');
const dial = () => connect({ path: outer(), allowHalfOpen: true }).on('error', () => {});

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agentiso-bridge-'));
  accepted = [];
  problems = [];
});

afterEach(async () => {
  bridge?.close();
  for (const socket of accepted) socket.destroy();
  server?.close();
  await rm(directory, { recursive: true });
});

async function serve(onSocket: (socket: Socket) => void): Promise<void> {
  server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket.on('error', () => {}));
    onSocket(socket);
  });
  server.listen(inner());
  await once(server, 'listening');
}

/** struct sockaddr_un. */
function addressOf(path: string): Buffer {
  const address = Buffer.alloc(110);
  address.writeUInt16LE(UNIX_FAMILY, 0);
  address.write(path, 2);
  return address;
}

async function open(doors = [{ address: addressOf(outer()), path: inner() }]): Promise<void> {
  bridge = await openBridge({ doors, host: addressOf(host()), family: UNIX_FAMILY, report: (problem) => problems.push(problem) });
}

describe('the bridge of a machine', () => {
  it('carries bytes both ways, the last before an end too, many connections beside each other', async () => {
    await serve((socket) => {
      const question: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => {
        question.push(chunk);
        if (chunk.at(-1) === LAST) socket.end(Buffer.concat(question).subarray(0, -1).reverse());
      });
    });
    await open();
    const ask = (question: string) => {
      const socket = dial();
      socket.write(question);
      socket.write(Buffer.of(LAST));
      return text(socket).finally(() => socket.destroy());
    };
    const questions = Array.from({ length: 12 }, (_, at) => `${at}-`.repeat(100_000 + at));
    const answers = questions.map(ask);
    const reversed = questions.map((question) => [...question].reverse().join(''));
    // Compared as one: a difference need not be printed.
    expect((await Promise.all(answers)).map((answer, at) => answer === reversed[at])).toEqual(questions.map(() => true));
    // Each has been let go: more than can be open at once come one after the other.
    for (let round = 0; round < 150; round++) expect(await ask('ab')).toBe('ba');
  });

  it('goes on with the others when one does not read', async () => {
    await serve((socket) => socket.on('data', (chunk) => socket.write(chunk)));
    await open();
    const deaf = dial();
    await once(deaf, 'connect');
    deaf.pause();
    for (let piece = 0; piece < 64; piece++) deaf.write(Buffer.alloc(65_536));
    const other = dial();
    other.write('heard');
    expect(String((await once(other, 'data'))[0])).toBe('heard');
    for (const socket of [deaf, other]) socket.destroy();
  });

  it('ends both sides when one has no more to say: not everybody who carries vsock knows of less', async () => {
    await serve((socket) => socket.resume());
    await open();
    const near = dial();
    await vi.waitFor(() => expect(accepted).toHaveLength(1), WAIT);
    accepted[0]?.end('the last word');
    expect(await text(near)).toBe('the last word');
    const other = dial();
    await vi.waitFor(() => expect(accepted).toHaveLength(2), WAIT);
    other.end();
    expect(await text(other)).toBe('');
    for (const socket of [near, other]) socket.destroy();
  });

  it('ends one side when the other has gone, and sends away whoever comes while nobody is there', async () => {
    await open();
    expect(await text(dial())).toBe('');
    await serve((socket) => socket.resume());
    const near = dial();
    await vi.waitFor(() => expect(accepted).toHaveLength(1), WAIT);
    const far = accepted[0] as Socket;
    const gone = once(far, 'end');
    near.destroy();
    await gone;
    const again = dial();
    await vi.waitFor(() => expect(accepted).toHaveLength(2), WAIT);
    again.resume();
    const ended = once(again, 'end');
    accepted[1]?.destroy();
    await ended;
    again.destroy();
  });

  it('is there again when its process was ended', async () => {
    await serve((socket) => socket.end('there'));
    await open();
    process.kill(bridge?.pid ?? 0, 'SIGKILL');
    // A unix socket leaves its file behind, which no other family does.
    await rm(outer(), { force: true });
    await vi.waitFor(async () => expect(await text(dial())).toBe('there'), WAIT);
    expect(problems).toEqual([expect.stringContaining('the process that lets the host in ended')]);
  });

  it('says what keeps it from listening, and tries again', async () => {
    const opening = open([{ address: addressOf(join(directory, 'nowhere', 'outer.sock')), path: inner() }]);
    await vi.waitFor(() => expect(problems.join()).toContain('No such file or directory'), WAIT);
    await mkdir(join(directory, 'nowhere'));
    await opening;
  });

  it('tells the host when it listens, until that has answered, and not again', async () => {
    await serve((socket) => socket.end('there'));
    await open();
    let calls = 0;
    // The first one hangs up without a word.
    const listener = createServer((socket) => void (calls++ === 0 ? socket.destroy() : socket.on('error', () => {}).end('ok\n')));
    listener.listen(host());
    await vi.waitFor(() => expect(calls).toBe(2), WAIT);
    process.kill(bridge?.pid ?? 0, 'SIGKILL');
    await rm(outer(), { force: true });
    await vi.waitFor(async () => expect(await text(dial())).toBe('there'), WAIT);
    expect(calls).toBe(2);
    await new Promise((resolve) => listener.close(resolve));
  });
});

it('lets in nobody but the host, whatever port it comes from', () => {
  const judge = (family: number, peer: Buffer) =>
    execFileSync('perl', ['-e', `my $family = ${family};${WELCOME}; print welcome(pack('H*', '${peer.toString('hex')}')) ? 'in' : 'out'`], {
      encoding: 'utf8',
    });
  for (const port of [1, 5000, 0x7fff_ffff]) {
    expect([0, 1, HOST_CID, 3, ANY_CID].map((cid) => judge(VSOCK_FAMILY, vsockAddress(cid, port)))).toEqual([
      ...['out', 'out', 'in', 'out', 'out'],
    ]);
  }
});

it('has a door for each port, at the address that the kernel reads', () => {
  expect(vsockDoors((name) => `/run/${name}.sock`).map(({ address, path }) => `${address.toString('hex')} ${path}`)).toEqual([
    '2800000088130000ffffffff00000000 /run/control.sock',
    '2800000089130000ffffffff00000000 /run/relay.sock',
    '280000008a130000ffffffff00000000 /run/egress.sock',
  ]);
});
