/** The proxy with real sockets: what passes, what is refused and how, and how connections end. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { ask, client, PUBLIC, proxyHome, reasonOf, server, statusOf, tunnel } from './egress.fixture.ts';

const rules = { allowDomains: ['ok.test', '*.sub.test'], allowInternet: false };
const connectTo = (authority: string, more = '') => `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${more}\r\n`;

/** A proxy with an echo server behind ok.test:443. */
async function echoHome(limits: Parameters<typeof proxyHome>[0] = {}) {
  const home = proxyHome(limits);
  home.internet.names.set('ok.test', [PUBLIC]);
  home.internet.servers.set(`${PUBLIC}:443`, await server((socket) => socket.pipe(socket)));
  await home.egress.listen('a1', home.socketPath, rules);
  return home;
}

describe('a tunnel', () => {
  it('carries bytes both ways, those sent along with the request too, and ends in each direction on its own', async () => {
    const { socketPath, internet } = await echoHome();
    const early = await client(socketPath);
    early.socket.write(`${connectTo('OK.test.:443')}early `);
    await early.until(/early $/);
    early.socket.end('late');
    // The echo server ends only after it saw our end, and still could send.
    expect(await early.closed).toBe('HTTP/1.1 200 Connection Established\r\n\r\nearly late');
    expect(internet.connected).toEqual([`${PUBLIC}:443`]);
  });

  it('lets the server end first and still takes what the client sends', async () => {
    const home = await echoHome();
    let heard = '';
    const port = await server((socket) =>
      socket
        .on('data', (chunk) => {
          heard += chunk;
        })
        .end('bye'),
    );
    home.internet.servers.set(`${PUBLIC}:443`, port);
    const { socket, closed } = await tunnel(home.socketPath, 'ok.test:443');
    expect(await closed).toMatch(/bye$/);
    socket.end('after');
    await vi.waitFor(() => expect(heard).toBe('after'));
  });

  it('holds a sender back whose reader does not read', async () => {
    const home = await echoHome();
    let sent = 0;
    const chunk = Buffer.alloc(64 * 1024);
    const total = 64 * 1024 * 1024;
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
    home.internet.servers.set(`${PUBLIC}:443`, port);
    const { socket } = await tunnel(home.socketPath, 'ok.test:443');
    socket.pause();
    let before = -1;
    await vi.waitFor(
      () => {
        const now = sent;
        const isStill = now === before;
        before = now;
        expect(isStill).toBe(true);
      },
      { interval: 200, timeout: 10_000 },
    );
    expect(sent).toBeLessThan(total / 2);
    let received = 0;
    socket.on('data', (data: string) => {
      received += data.length;
    });
    socket.resume();
    await new Promise((resolve) => socket.once('end', resolve));
    expect(sent).toBe(total);
    expect(received).toBeGreaterThan(0);
  });

  it('outlives the time that was given for connecting', async () => {
    const { socketPath } = await echoHome({ connectMs: 50 });
    const { socket, until } = await tunnel(socketPath, 'ok.test:443');
    await pause(150);
    socket.write('still here');
    await until(/still here/);
  });

  it('is cut on both sides when one is reset, when it is idle, and when its agent goes', async () => {
    const home = await echoHome({ idleMs: 300 });
    let upstreamClosed = 0;
    const port = await server((socket) => {
      // A client that ended may only have finished sending; the other two are cut.
      socket.on('close', () => upstreamClosed++).on('end', () => socket.end());
      socket.resume();
    });
    home.internet.servers.set(`${PUBLIC}:443`, port);
    const idle = await tunnel(home.socketPath, 'ok.test:443');
    await idle.closed;
    await vi.waitFor(() => expect(upstreamClosed).toBe(1));
    const gone = await tunnel(home.socketPath, 'ok.test:443');
    gone.socket.destroy();
    await vi.waitFor(() => expect(upstreamClosed).toBe(2));
    const cut = await tunnel(home.socketPath, 'ok.test:443');
    await home.egress.close('a1');
    await cut.closed;
    await vi.waitFor(() => expect(upstreamClosed).toBe(3));
    expect(existsSync(home.socketPath)).toBe(false);
  });
});

describe('a refusal', () => {
  it.each([
    ['no.test:443', 403, 'NameNotAllowed'],
    ['sub.test:443', 403, 'NameNotAllowed'],
    ['ok.test:22', 403, 'PortNotAllowed'],
    [`${PUBLIC}:443`, 403, 'AddressNotAllowed'],
    ['[::1]:443', 403, 'AddressNotAllowed'],
    ['a.sub.test:443', 502, 'ResolveFailed'],
    ['ok.test:80', 502, 'ConnectFailed'],
    ['ok.test', 400, 'BadRequest'],
  ])('of %s is %i with the reason %s', async (authority, status, reason) => {
    const { socketPath } = await echoHome();
    const answer = await ask(socketPath, connectTo(authority));
    expect([statusOf(answer), reasonOf(answer)]).toEqual([status, reason]);
    expect(answer).toMatch(/\r\n\r\nagentiso: .+\n$/);
  });

  it('comes before any lookup for a name that is not allowed: names carry nothing out', async () => {
    const { socketPath, internet } = await echoHome();
    await ask(socketPath, connectTo('c2VjcmV0.evil.test:443'));
    expect(internet.resolved).toEqual([]);
  });

  it.each([
    ['private', ['10.0.0.1']],
    ['private beside public ones', [PUBLIC, '192.168.0.1']],
    ['the metadata service', ['169.254.169.254']],
    ['IPv4 in IPv6', ['::ffff:127.0.0.1']],
    ['this machine', ['127.0.0.1']],
  ])('meets a name that is allowed and is %s', async (_, addresses) => {
    const { socketPath, internet, egress } = await echoHome();
    internet.names.set('ok.test', addresses);
    for (const allowInternet of [false, true]) {
      egress.update('a1', { ...rules, allowInternet });
      const answer = await ask(socketPath, connectTo('ok.test:443'));
      expect([statusOf(answer), reasonOf(answer)]).toEqual([403, 'AddressNotAllowed']);
    }
    expect(internet.connected).toEqual([]);
  });

  it('is counted always and told once per name and minute', async () => {
    const { socketPath, egress, refused, pass } = await echoHome();
    for (const name of ['no.test', 'NO.test.', 'other.test']) await ask(socketPath, connectTo(`${name}:443`));
    expect(refused).toEqual(['a1 no.test', 'a1 other.test']);
    pass(60_000);
    await ask(socketPath, connectTo('no.test:443'));
    expect(refused).toEqual(['a1 no.test', 'a1 other.test', 'a1 no.test']);
    expect(egress.counters('a1')?.refused).toBe(4);
    expect(egress.counters('nobody')).toBeUndefined();
  });
});

describe('the name of a connection', () => {
  it('is resolved once: what is connected to is what was looked at', async () => {
    const { socketPath, internet } = await echoHome();
    const answers = [[PUBLIC], ['127.0.0.1']];
    const get = internet.names.get.bind(internet.names);
    internet.names.get = (name) => (name === 'ok.test' ? answers.shift() : get(name));
    const { socket } = await tunnel(socketPath, 'ok.test:443');
    socket.destroy();
    expect(internet.connected).toEqual([`${PUBLIC}:443`]);
    expect(reasonOf(await ask(socketPath, connectTo('ok.test:443')))).toBe('AddressNotAllowed');
  });

  it('is tried at its other addresses when one does not answer', async () => {
    const { socketPath, internet } = await echoHome();
    internet.names.set('ok.test', ['1.2.3.4', PUBLIC]);
    await tunnel(socketPath, 'ok.test:443');
    expect(internet.connected).toEqual(['1.2.3.4:443', `${PUBLIC}:443`]);
  });

  it('may be any public one on any port with allowInternet', async () => {
    const { socketPath, internet, egress } = await echoHome();
    internet.servers.set(`${PUBLIC}:2222`, internet.servers.get(`${PUBLIC}:443`) ?? 0);
    egress.update('a1', { allowDomains: [], allowInternet: true });
    for (const authority of [`${PUBLIC}:2222`, 'ok.test:2222']) expect((await tunnel(socketPath, authority)).text()).toMatch(/ 200 /);
    for (const authority of ['127.0.0.1:2222', '[::1]:2222', '0x7f000001:2222', '10.99.0.2:2222', '[::ffff:1.1.1.1]:2222']) {
      expect(reasonOf(await ask(socketPath, connectTo(authority))), authority).toBe('AddressNotAllowed');
    }
  });
});

describe('new rules', () => {
  it('cut tunnels to names that are no longer allowed and leave the others', async () => {
    const { socketPath, egress, internet } = await echoHome();
    internet.names.set('a.sub.test', [PUBLIC]);
    const kept = await tunnel(socketPath, 'ok.test:443');
    const cut = await tunnel(socketPath, 'a.sub.test:443');
    egress.update('a1', { allowDomains: ['ok.test'], allowInternet: false });
    await cut.closed;
    kept.socket.write('still here');
    await kept.until(/still here/);
    expect(() => egress.update('a1', { allowDomains: ['*'], allowInternet: false })).toThrow(/is no name/);
  });

  it('meet a connection that is being made', async () => {
    const { socketPath, egress, internet } = await echoHome();
    let answer = (_: readonly string[]) => {};
    const get = internet.names.get.bind(internet.names);
    internet.names.get = (name) =>
      name === 'ok.test'
        ? (new Promise((resolve) => {
            answer = resolve;
          }) as never)
        : get(name);
    const { socket, closed } = await client(socketPath);
    socket.write(connectTo('ok.test:443'));
    await vi.waitFor(() => expect(internet.resolved).toEqual(['ok.test']));
    egress.update('a1', { allowDomains: [], allowInternet: false });
    answer([PUBLIC]);
    expect(await closed).not.toContain('200');
  });
});

describe('the socket', () => {
  it('belongs to its owner only, takes the place of whatever was there, and stays where it is in place', async () => {
    const { socketPath, egress } = proxyHome();
    const victim = join(dirname(socketPath), 'victim');
    writeFileSync(victim, 'x', { mode: 0o644 });
    symlinkSync(victim, socketPath);
    await egress.listen('a1', socketPath, rules);
    expect(statSync(victim).mode & 0o777).toBe(0o644);
    expect(statSync(socketPath)).toMatchObject({ mode: 0o140600 });
    const { ino } = statSync(socketPath);
    await egress.listen('a1', socketPath, rules);
    expect(statSync(socketPath).ino).toBe(ino);
    // A new run directory: the old socket is of no use to anybody.
    rmSync(dirname(socketPath), { recursive: true });
    mkdirSync(dirname(socketPath));
    await egress.listen('a1', socketPath, rules);
    expect(reasonOf(await ask(socketPath, connectTo('no.test:1')))).toBe('NameNotAllowed');
    expect(readdirSync(dirname(dirname(socketPath)))).toEqual(['run']);
  });

  it.runIf(process.getuid?.() === 0)('is given to the user it is for', async () => {
    const { socketPath, egress } = proxyHome();
    await egress.listen('a1', socketPath, rules, { uid: 70_001 });
    expect(statSync(socketPath)).toMatchObject({ mode: 0o140600, uid: 70_001 });
  });

  it('may lie in a folder of any depth', async () => {
    const { socketPath, egress } = proxyHome();
    const deep = join(dirname(socketPath), 'd'.repeat(100), 'run', 'egress.sock');
    mkdirSync(dirname(deep), { recursive: true });
    await egress.listen('a1', deep, rules);
    expect(statSync(deep).isSocket()).toBe(true);
    await egress.close('a1');
    expect(existsSync(deep)).toBe(false);
  });

  it('says where it cannot be', async () => {
    const { socketPath, egress } = proxyHome();
    await expect(egress.listen('a1', join(dirname(socketPath), 'none', 'x', 'e.sock'), rules)).rejects.toMatchObject({
      code: 'Unavailable',
      message: expect.stringContaining('cannot listen on'),
    });
  });
});

describe('limits', () => {
  it('lets an agent have 64 connections, answers the next one, and takes another when one has gone', async () => {
    const { socketPath, egress } = await echoHome();
    const open = await Promise.all(Array.from({ length: 64 }, () => client(socketPath)));
    await vi.waitFor(() => expect(egress.counters('a1')?.connections).toBe(64));
    const answer = await ask(socketPath, connectTo('ok.test:443'));
    expect([statusOf(answer), reasonOf(answer)]).toEqual([503, 'TooManyConnections']);
    open[0]?.socket.destroy();
    await vi.waitFor(() => expect(egress.counters('a1')?.connections).toBe(63));
    await tunnel(socketPath, 'ok.test:443');
  });

  it('waits for a head neither for ever nor byte by byte', async () => {
    const { socketPath } = await echoHome({ headMs: 200 });
    const silent = await client(socketPath);
    const slow = await client(socketPath);
    slow.socket.write('CONNECT ok.test:443 HTTP/1.1\r\n');
    const drip = setInterval(() => slow.socket.write('X-A: b\r\n'), 20);
    const answers = await Promise.all([silent.closed, slow.closed]);
    clearInterval(drip);
    expect(answers.map(reasonOf)).toEqual(['RequestTimeout', 'RequestTimeout']);
  });

  it('refuses a head that is too large', async () => {
    const { socketPath } = await echoHome();
    const answer = await ask(socketPath, connectTo('ok.test:443', `X-Large: ${'x'.repeat(17 * 1024)}\r\n`));
    expect([statusOf(answer), reasonOf(answer)]).toEqual([431, 'HeadTooLarge']);
  });

  it('asks for two names at a time, one of each agent', async () => {
    const { socketPath, internet, egress } = await echoHome();
    const answers = new Map<string, (addresses: readonly string[]) => void>();
    internet.names.get = (name) => new Promise((resolve) => answers.set(name, resolve)) as never;
    for (const agent of ['a2', 'a3']) await egress.listen(agent, `${socketPath}.${agent}`, rules);
    const send = async (path: string, name: string) => (await client(path)).socket.write(connectTo(`${name}.sub.test:443`));
    await send(socketPath, 'a');
    await vi.waitFor(() => expect(internet.resolved).toHaveLength(1));
    await send(socketPath, 'b');
    await send(`${socketPath}.a2`, 'c');
    await vi.waitFor(() => expect(internet.resolved).toHaveLength(2));
    await send(`${socketPath}.a3`, 'd');
    answers.get('a.sub.test')?.([PUBLIC]);
    await vi.waitFor(() => expect(internet.resolved).toHaveLength(3));
    answers.get('c.sub.test')?.([PUBLIC]);
    await vi.waitFor(() => expect(internet.resolved).toHaveLength(4));
    expect(internet.resolved.slice(0, 2)).toEqual(['a.sub.test', 'c.sub.test']);
    for (const answer of answers.values()) answer([PUBLIC]);
  });
});
