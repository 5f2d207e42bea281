/** The two doors: HTTPS for every client, a private unix socket for our own commands. */
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';
import { UnavailableError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { pinnedSocketPath } from '#lib/socket-path.ts';
import type { Api } from './api.ts';
import type { Channel } from './auth/identified.ts';
import type { Identity } from './auth/identity.ts';
import { afterReading, judgeLate, noteRequest } from './patience.ts';
import { openPlainDoor } from './plain/door.ts';

export interface Doors {
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  /** Watches end, requests under way are answered, connections close. */
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly api: Api;
  readonly log: Logger;
  readonly host: string;
  /** Absent: the one of last time where it is free, else any. */
  readonly port?: number;
  /** Where the port is remembered. */
  readonly portFile: string;
  readonly tls: { readonly certPem: string; readonly keyPem: string };
  readonly socketPath: string;
  /** Whom the private socket stands for. */
  readonly socketIdentity: Identity;
  readonly times?: DoorTimes;
}

interface DoorTimes {
  /** A whole request, body included, takes no longer to arrive; an answer may take for ever. */
  readonly requestMs: number;
  /** Between two requests. */
  readonly idleMs: number;
  /** How often requests are looked at for it. */
  readonly checkMs: number;
}

const TIMES: DoorTimes = { requestMs: 60_000, idleMs: 120_000, checkMs: 30_000 };
/** So many may knock while the process does something else. On a socket whoever comes after them is refused; node's own 511 are soon there. */
const BACKLOG = 4_096;
/** Then connections that still hold on are cut. */
const CLOSING_MS = 5_000;

export async function openDoors(options: ListenOptions): Promise<Doors> {
  const { api, tls, host, portFile, socketIdentity, times = TIMES } = options;
  const limits = limitsOf(times);
  const https = createHttpsServer({ cert: tls.certPem, key: tls.keyPem, ...limits });
  const local = createHttpServer(limits);
  const onAsked = (socket: Socket) => noteAsked(local, socket);
  const plain = openPlainDoor(local, { api, channel: { identity: socketIdentity }, idleMs: times.idleMs, onAsked });
  attach(https, { api, channel: {}, times });
  attach(local, { api, channel: { identity: socketIdentity }, times });
  let releaseSocket = () => {};
  try {
    releaseSocket = await listenPrivately(local, options.socketPath);
    await listenOn(https, options);
    writeFileSync(portFile, `${portOf(https)}\n`, { mode: 0o600 });
  } catch (error) {
    await closeAll([https, local]);
    releaseSocket();
    throw error;
  }
  return {
    url: `https://${host.includes(':') ? `[${host}]` : host}:${portOf(https)}`,
    async close() {
      api.endWatches();
      plain.close();
      await closeAll([https, local], () => plain.cut());
      releaseSocket();
    },
  };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

const limitsOf = ({ requestMs, idleMs, checkMs }: DoorTimes) => ({
  requestTimeout: requestMs,
  headersTimeout: requestMs,
  keepAliveTimeout: idleMs,
  connectionsCheckingInterval: checkMs,
  maxHeaderSize: 32 * 1024,
  requireHostHeader: false,
});

/** Connections on which something was asked: from then on only answers go out. */
const answered = new WeakSet<object>();

interface Attaching {
  readonly api: Api;
  readonly channel: Channel;
  readonly times: DoorTimes;
}

function attach(server: Server, { api, channel, times }: Attaching): void {
  trackSilent(server);
  server.on('timeout', (socket) => afterReading(socket, { silent: () => socket.destroy() }));
  server.on('request', (request, response) => {
    noteAsked(server, request.socket);
    noteRequest(request);
    api.handle(request, response, channel);
  });
  server.on('upgrade', (request, socket, head) => api.upgrade(request, socket, head, channel));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === LATE) judgeLate(socket as Socket, times.requestMs, () => refuse(socket, error));
    else refuse(socket, error);
  });
}

const LATE = 'ERR_HTTP_REQUEST_TIMEOUT';
const STATUSES: Readonly<Record<string, string>> = {
  [LATE]: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

function refuse(socket: Duplex, { code = '' }: NodeJS.ErrnoException): void {
  // In the middle or after the end of an answer there is nothing more to say.
  if (!socket.writable || code === 'ECONNRESET' || code === 'HPE_CLOSED_CONNECTION' || answered.has(socket)) {
    socket.destroy();
    return;
  }
  socket.end(`HTTP/1.1 ${STATUSES[code] ?? '400 Bad Request'}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

async function listenOn(server: Server, { host, port, portFile, log }: ListenOptions): Promise<void> {
  const remembered = port === undefined ? rememberedPort(portFile) : port;
  try {
    await listening(server, () => server.listen({ port: remembered, host, backlog: BACKLOG }));
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    if (!isTaken || port !== undefined) throw cannotListen(`${host}:${remembered}`, error);
    log.warn({ port: remembered }, 'the port of last time is taken, so this is another one');
    await listening(server, () => server.listen({ port: 0, host, backlog: BACKLOG }));
  }
}

function rememberedPort(portFile: string): number {
  try {
    const port = Number(readFileSync(portFile, 'utf8').trim());
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : 0;
  } catch {
    // The first start.
    return 0;
  }
}

/** The daemon's lock says that nobody else can be listening there. Returns what is to be done once the server is closed. */
async function listenPrivately(server: Server, path: string): Promise<() => void> {
  rmSync(path, { force: true });
  const pinned = pinnedSocketPath(path);
  const umask = process.umask(0o177);
  try {
    await listening(server, () => server.listen({ path: pinned.path, backlog: BACKLOG }));
  } catch (error) {
    pinned.release();
    throw cannotListen(path, error);
  } finally {
    process.umask(umask);
  }
  chmodSync(path, 0o600);
  return pinned.release;
}

function listening(server: Server, listen: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => {
      server.off('error', reject);
      resolve();
    });
    listen();
  });
}

function cannotListen(where: string, error: unknown): UnavailableError {
  const { code } = error as NodeJS.ErrnoException;
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: 'it is in use',
    EACCES: 'not allowed',
    EADDRNOTAVAIL: 'this machine has no such address',
    ENOTFOUND: 'there is no such host',
  };
  return new UnavailableError(`cannot listen on ${where}: ${why[code ?? ''] ?? (error as Error).message}`, { cause: error });
}

/** Connections on which nothing was ever asked: node counts them neither as idle nor as busy, and would wait for them. */
const silent = new WeakMap<Server, Set<Socket>>();

function trackSilent(server: Server): void {
  const sockets = new Set<Socket>();
  silent.set(server, sockets);
  // Over TLS a request names the secured connection.
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
}

function noteAsked(server: Server, socket: Socket): void {
  answered.add(socket);
  silent.get(server)?.delete(socket);
}

async function closeAll(servers: readonly Server[], cutOthers = () => {}): Promise<void> {
  const cut = setTimeout(() => {
    for (const server of servers) server.closeAllConnections();
    cutOthers();
  }, CLOSING_MS);
  await Promise.all(
    servers.map(
      (server) =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeIdleConnections();
          for (const socket of silent.get(server) ?? []) socket.destroy();
        }),
    ),
  );
  clearTimeout(cut);
}
