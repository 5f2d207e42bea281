/** Forwards over real sockets, with servers on loopback for what is inside of a workspace. */
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '#lib/log.ts';
import { client, server } from '../egress/egress.fixture.ts';
import { type DialGuest, PortForwards } from './port-forwards.ts';

const all: PortForwards[] = [];
const servers: Server[] = [];
afterEach(async () => {
  for (const forwards of all.splice(0)) await forwards.closeAll();
  for (const taken of servers.splice(0)) await new Promise((resolve) => taken.close(resolve));
});

function portForwards(reserved: readonly number[] = [], dialMs = 10_000): PortForwards {
  const forwards = new PortForwards({ log: silentLogger, reserved, dialMs });
  all.push(forwards);
  return forwards;
}

/** Takes a port, as another program would. */
async function take(port: number): Promise<number> {
  const taken = createServer();
  servers.push(taken);
  await new Promise<void>((resolve, reject) => taken.once('error', reject).listen(port, '127.0.0.1', resolve));
  return (taken.address() as AddressInfo).port;
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const port = await take(0);
  const taken = servers.pop();
  await new Promise((resolve) => taken?.close(resolve));
  return port;
}

const dialTo =
  (port: number): DialGuest =>
  async (_guestPort, signal) =>
    connect({ port, host: '127.0.0.1', allowHalfOpen: true, signal });
const nobody: DialGuest = async () => {
  throw new Error('nobody listens');
};

async function echoPort(): Promise<number> {
  return server((socket) => socket.pipe(socket));
}

describe('a forwarded port', () => {
  it('carries bytes both ways and ends in each direction on its own', async () => {
    const forwards = portForwards();
    const dialled: number[] = [];
    const dial = dialTo(await echoPort());
    const [forward] = await forwards.ensure('a', [{ guestPort: 3000, hostPort: null }], (guestPort, signal) => {
      dialled.push(guestPort);
      return dial(guestPort, signal);
    });
    expect(forward).toMatchObject({ guestPort: 3000, hostPort: expect.toSatisfy((port: number) => port >= 30_000 && port <= 32_767) });
    const { socket, closed } = await client(forward?.hostPort ?? 0);
    socket.end('hello');
    expect(await closed).toBe('hello');
    expect(dialled).toEqual([3000]);
  });

  it('lives on when nobody listens inside: the connection is closed, the next one may pass', async () => {
    const forwards = portForwards();
    const wanted = [{ guestPort: 3000, hostPort: null }];
    const [forward] = await forwards.ensure('a', wanted, nobody);
    for (let i = 0; i < 3; i++) expect(await (await client(forward?.hostPort ?? 0)).closed).toBe('');
    expect(await forwards.ensure('a', wanted, dialTo(await echoPort()))).toEqual([forward]);
    const { socket, closed } = await client(forward?.hostPort ?? 0);
    socket.end('back');
    expect(await closed).toBe('back');
  });

  it('outlives the time that was given for dialling, also when the dialled connection listens to the signal', async () => {
    const forwards = portForwards([], 50);
    const [forward] = await forwards.ensure('a', [{ guestPort: 1, hostPort: null }], dialTo(await echoPort()));
    const { socket, until } = await client(forward?.hostPort ?? 0);
    await pause(150);
    socket.write('still here');
    await until(/still here/);
  });

  it('gives up dialling when the client has gone', async () => {
    const forwards = portForwards();
    let isAborted = false;
    const dial: DialGuest = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          isAborted = true;
          reject(signal.reason);
        });
      });
    const [forward] = await forwards.ensure('a', [{ guestPort: 1, hostPort: null }], dial);
    const { socket } = await client(forward?.hostPort ?? 0);
    socket.resetAndDestroy();
    await forwards.remove('a');
    await vi.waitFor(() => expect(isAborted).toBe(true));
  });

  it('passes a reset on and survives it', async () => {
    const forwards = portForwards();
    const port = await server((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const [forward] = await forwards.ensure('a', [{ guestPort: 1, hostPort: null }], dialTo(port));
    for (let i = 0; i < 3; i++) {
      const { socket } = await client(forward?.hostPort ?? 0);
      const failure = new Promise((resolve) => socket.once('error', resolve));
      socket.write('x');
      expect(await failure).toMatchObject({ code: 'ECONNRESET' });
    }
  });

  it('holds a sender back whose reader does not read', async () => {
    const forwards = portForwards();
    let sent = 0;
    const total = 32 * 1024 * 1024;
    const chunk = Buffer.alloc(64 * 1024);
    const port = await server((socket) => {
      const push = () => {
        while (sent < total) {
          sent += chunk.length;
          if (!socket.write(chunk)) return;
        }
        socket.end();
      };
      socket.on('drain', push);
      push();
    });
    const [forward] = await forwards.ensure('a', [{ guestPort: 1, hostPort: null }], dialTo(port));
    const { socket } = await client(forward?.hostPort ?? 0);
    socket.pause();
    let before = -1;
    await vi.waitFor(
      () => {
        const isStill = sent > 0 && sent === before;
        before = sent;
        expect(isStill).toBe(true);
      },
      { interval: 200, timeout: 10_000 },
    );
    expect(sent).toBeLessThan(total);
    socket.resume();
    await new Promise((resolve) => socket.once('end', resolve));
    expect(sent).toBe(total);
  });
});

describe('ensuring forwards', () => {
  it('changes nothing when nothing changed, and keeps what is connected', async () => {
    const forwards = portForwards();
    const wanted = [
      { guestPort: 1, hostPort: null },
      { guestPort: 2, hostPort: await freePort() },
    ];
    const dial = dialTo(await echoPort());
    const first = await forwards.ensure('a', wanted, dial);
    const { socket, until } = await client(first[0]?.hostPort ?? 0);
    expect(await forwards.ensure('a', wanted, dial)).toEqual(first);
    // The second one is gone, the first stays.
    expect(await forwards.ensure('a', wanted.slice(0, 1), dial)).toEqual(first.slice(0, 1));
    socket.write('still here');
    await until(/still here/);
    await expect(client(first[1]?.hostPort ?? 0)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await forwards.remove('a');
    await forwards.remove('a');
    await expect(client(first[0]?.hostPort ?? 0)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('moves a forward to another port', async () => {
    const forwards = portForwards();
    const [one, two] = [await freePort(), await freePort()];
    await forwards.ensure('a', [{ guestPort: 1, hostPort: one }], nobody);
    expect(await forwards.ensure('a', [{ guestPort: 1, hostPort: two }], nobody)).toEqual([{ guestPort: 1, hostPort: two }]);
    await expect(client(one)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('takes the port of last time, or another when that is taken', async () => {
    const forwards = portForwards();
    const wanted = [{ guestPort: 1, hostPort: null }];
    const [first] = await forwards.ensure('a', wanted, nobody);
    const chosen = first?.hostPort ?? 0;
    // Others take the lowest free one; a restart brings us back to ours.
    const [other] = await forwards.ensure('b', wanted, nobody);
    await forwards.closeAll();
    const previous = [{ guestPort: 1, hostPort: other?.hostPort ?? 0 }];
    expect(await forwards.ensure('b', wanted, nobody, previous)).toEqual([other]);
    await forwards.closeAll();
    await take(other?.hostPort ?? 0);
    const [moved] = await forwards.ensure('b', wanted, nobody, previous);
    expect(moved?.hostPort).not.toBe(other?.hostPort);
    expect(moved?.hostPort).toBeGreaterThanOrEqual(30_000);
    expect(chosen).toBeGreaterThanOrEqual(30_000);
  });

  it('refuses a port that another agent or program has, and opens none of the others', async () => {
    const forwards = portForwards();
    const [ours, free] = [await freePort(), await freePort()];
    await forwards.ensure('a', [{ guestPort: 1, hostPort: ours }], nobody);
    const taken = await take(0);
    const attempt = (hostPort: number) =>
      forwards.ensure(
        'b',
        [free, hostPort].map((port, index) => ({ guestPort: index + 1, hostPort: port })),
        nobody,
      );
    await expect(attempt(ours)).rejects.toMatchObject({
      code: 'Conflict',
      message: `hostPort ${ours} is forwarded to another agent; choose another, or leave it out`,
    });
    await expect(attempt(taken)).rejects.toMatchObject({
      code: 'Conflict',
      message: `hostPort ${taken} is in use by another program; choose another, or leave it out`,
    });
    await expect(client(free)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('gives each its own when many ask at once, and never a reserved one', async () => {
    const forwards = portForwards([30_000, 30_003]);
    const given = await Promise.all(
      Array.from({ length: 12 }, (_, i) => forwards.ensure(`a${i}`, [{ guestPort: 80, hostPort: null }], nobody)),
    );
    const ports = given.flat().map(({ hostPort }) => hostPort);
    expect(new Set(ports).size).toBe(12);
    expect(ports).not.toContain(30_000);
    expect(ports).not.toContain(30_003);
  });
});
