/** The proxy of one agent: one request per connection, which is either tunnelled or passed on, or refused with a reason. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { messageOf } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { type DialOptions, dial } from './dial.ts';
import { join } from './join.ts';
import { type NameRules, parseAuthority, refuseTarget, type Target } from './names.ts';
import { forward, parsePlainTarget } from './plain-http.ts';
import { answer, answerRaw, Refusal } from './refusal.ts';

export interface EgressLimits {
  readonly maxConnections: number;
  readonly maxHeaderBytes: number;
  /** From the connection to the last byte of the request's head. */
  readonly headMs: number;
  /** Without a byte in either direction. */
  readonly idleMs: number;
}

export interface AgentProxyOptions {
  readonly agentId: string;
  readonly rules: NameRules;
  readonly limits: EgressLimits;
  readonly dialOptions: DialOptions;
  readonly log: Logger;
  /** With the name that was asked for; not called for what is no request at all. */
  readonly onRefused: (name: string) => void;
  /** What is asked of the proxy itself, by a path that begins with /agentiso/. Absent: there is nothing to ask for. */
  readonly ownPaths?: (request: IncomingMessage, response: ServerResponse) => void;
}

const OWN_PATHS = '/agentiso/';

/** What is in a request's way after it was read. */
interface Visit {
  readonly socket: Socket;
  readonly target: Target;
  readonly abort: AbortController;
}

export class AgentProxy {
  readonly server: Server;
  readonly #options: AgentProxyOptions;
  #rules: NameRules;
  readonly #sockets = new Set<Socket>();
  readonly #heads = new Map<Socket, NodeJS.Timeout>();
  readonly #visits = new Set<Visit>();
  #refused = 0;

  constructor(options: AgentProxyOptions) {
    this.#options = options;
    this.#rules = options.rules;
    // The head has a deadline of ours; a body may take as long as it moves.
    this.server = createServer({
      maxHeaderSize: options.limits.maxHeaderBytes,
      headersTimeout: 0,
      requestTimeout: 0,
      requireHostHeader: false,
    });
    this.server.on('connection', (socket) => this.#greet(socket));
    this.server.on('connect', (request, socket, head) => void this.#tunnel(request, socket, head));
    this.server.on('request', (request, response) => void this.#pass(request, response));
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#refuseBytes(error, socket));
  }

  get refused(): number {
    return this.#refused;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** What is open to a name that is no longer allowed is cut. */
  update(rules: NameRules): void {
    this.#rules = rules;
    for (const { socket, target, abort } of this.#visits) {
      if (!refuseTarget(target, rules)) continue;
      abort.abort();
      socket.destroy();
    }
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #greet(socket: Socket): void {
    const { maxConnections, headMs, idleMs } = this.#options.limits;
    // What is wrong with a connection shows in how it ends; there is nobody to tell.
    socket.on('error', () => {});
    const isTooMany = this.#sockets.size >= maxConnections;
    this.#sockets.add(socket);
    const late = new Refusal(408, 'RequestTimeout', 'the request took too long to arrive');
    this.#heads.set(socket, setTimeout(() => this.#refuseConnection(socket, late), headMs).unref());
    socket.setTimeout(idleMs, () => socket.destroy());
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#headHasCome(socket);
    });
    const tooMany = new Refusal(503, 'TooManyConnections', `an agent has at most ${maxConnections} connections`);
    if (isTooMany) this.#refuseConnection(socket, tooMany);
  }

  /** Whatever it still says is no request any more. */
  #refuseConnection(socket: Socket, refusal: Refusal): void {
    this.#headHasCome(socket);
    answerRaw(socket, refusal);
  }

  #headHasCome(socket: Socket): void {
    clearTimeout(this.#heads.get(socket));
    this.#heads.delete(socket);
  }

  /** One request per connection: a second one, hidden in or behind the first, is no request. */
  #take(request: IncomingMessage): void {
    if (!this.#heads.has(request.socket)) {
      request.socket.destroy();
      throw new Refusal(400, 'BadRequest', 'one request per connection');
    }
    this.#headHasCome(request.socket);
    const names = request.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    if (names.filter((name) => name === 'host').length > 1) throw new Refusal(400, 'BadRequest', 'two Host headers');
  }

  async #tunnel(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const { socket } = request;
    stream.on('error', () => {});
    try {
      this.#take(request);
      const target = parseTunnelTarget(request);
      await this.#visit({ socket, target, abort: new AbortController() }, (upstream) => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        if (head.length > 0) upstream.write(head);
        socket.setTimeout(0);
        join(stream, upstream, { idleMs: this.#options.limits.idleMs });
      });
    } catch (error) {
      answerRaw(stream, this.#refusalOf(error, socket));
    }
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    try {
      this.#take(request);
      if (this.#options.ownPaths && request.url?.startsWith(OWN_PATHS)) {
        this.#options.ownPaths(request, response);
        return;
      }
      const target = parsePlainTarget(request.url ?? '');
      await this.#visit({ socket: request.socket, target, abort: new AbortController() }, (upstream) =>
        forward(request, response, target, upstream),
      );
    } catch (error) {
      answer(response, this.#refusalOf(error, request.socket));
      request.resume();
    }
  }

  /** Runs `use` with a connection to the target. What the rules say is asked again after each wait: they may have changed. */
  async #visit(visit: Visit, use: (upstream: Socket) => void): Promise<void> {
    const { socket, target, abort } = visit;
    const { agentId, dialOptions, limits } = this.#options;
    const leave = () => {
      this.#visits.delete(visit);
      abort.abort();
    };
    try {
      throwIf(refuseTarget(target, this.#rules));
      this.#visits.add(visit);
      socket.once('close', leave);
      const upstream = await dial(target, agentId, dialOptions, abort.signal);
      // Whoever uses it hears of it, too; this is for the time before.
      upstream.on('error', () => {});
      upstream.setTimeout(limits.idleMs, () => upstream.destroy());
      if (socket.destroyed || refuseTarget(target, this.#rules)) {
        upstream.destroy();
        socket.destroy();
        return;
      }
      use(upstream);
    } catch (error) {
      this.#visits.delete(visit);
      if (error instanceof Refusal && error.status === 403) this.#count(target, error);
      throw error;
    }
  }

  #count({ host, port }: Target, { reason }: Refusal): void {
    this.#refused++;
    this.#options.log.info({ agentId: this.#options.agentId, name: host, port, reason }, 'egress refused');
    this.#options.onRefused(host);
  }

  #refusalOf(error: unknown, socket: Socket): Refusal {
    if (error instanceof Refusal) return error;
    if (!socket.destroyed) this.#options.log.error({ err: error, agentId: this.#options.agentId }, 'the egress proxy failed');
    return new Refusal(500, 'Internal', `the proxy failed: ${messageOf(error).replace(/[^\x20-\x7e]/g, '?')}`);
  }

  #refuseBytes(error: NodeJS.ErrnoException, socket: Duplex): void {
    const { maxHeaderBytes } = this.#options.limits;
    // After its head, or in the middle of an answer, there is nothing more to say to a connection.
    if (error.code === 'ECONNRESET' || !this.#heads.has(socket as Socket)) socket.destroy();
    else if (error.code === 'HPE_HEADER_OVERFLOW') {
      this.#refuseConnection(socket as Socket, new Refusal(431, 'HeadTooLarge', `a head has at most ${maxHeaderBytes} bytes`));
    } else this.#refuseConnection(socket as Socket, new Refusal(400, 'BadRequest', 'this is no proper HTTP request'));
  }
}

function parseTunnelTarget({ url = '', headers }: IncomingMessage): Target {
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) {
    throw new Refusal(400, 'BadRequest', 'CONNECT has no body');
  }
  const target = parseAuthority(url);
  if (!target) throw new Refusal(400, 'BadRequest', 'CONNECT wants name:port');
  return target;
}

function throwIf(refusal: Refusal | undefined): void {
  if (refusal) throw refusal;
}
