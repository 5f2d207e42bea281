/**
 * Requests that change the protocol of their connection: exec, attach and portforward. Who asks and whether that may be has been decided;
 * here the protocol is agreed on, the agent is asked, and only then does the answer say yes.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { isCode, messageOf } from '#lib/errors.ts';
import { FORWARD_PROTOCOLS } from '#lib/forward-protocol.ts';
import type { AgentIo, AgentReference } from '../agent-io.ts';
import type { Call, Serving } from '../call.ts';
import { flag } from '../params.ts';
import { CONTAINER } from '../pods/project.ts';
import { agentOf } from '../pods/subject.ts';
import { type Carrier, SpdySession } from '../spdy/session.ts';
import { badRequest, failure } from '../status.ts';
import { WebSocketConnection } from '../websocket/connection.ts';
import { chosenProtocol, handshakeAnswer, isWebSocket, NO_PROTOCOL } from '../websocket/handshake.ts';
import { CHANNEL_PROTOCOLS, serveCommand } from './exec.ts';
import { EXEC_STREAMS, serveSpdyCommand } from './exec-spdy.ts';
import { forwardChannels, portsOf } from './forward-channels.ts';
import { spdyForwarder } from './forward-spdy.ts';
import { socketCarrier } from './socket-carrier.ts';

const SPDY = 'SPDY/3.1';
const TUNNEL = 'SPDY/3.1+portforward.k8s.io';
const PORT_FORWARD = 'portforward.k8s.io';

export interface Upgrade {
  readonly call: Pick<Call, 'route' | 'query' | 'identity'>;
  readonly serving: Serving;
  readonly agentIo: AgentIo;
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Ends it from this side. */
  readonly signal: AbortSignal;
}

export function upgradeRequired() {
  return badRequest('Upgrade request required');
}

/** Rejects while the client can still be told with a Status; resolves when the stream is over. */
export async function serveUpgrade(upgrade: Upgrade): Promise<void> {
  const agent = agentOf(upgrade.call, upgrade.serving);
  const { subresource } = upgrade.call.route;
  if (subresource === 'portforward') await servePorts(upgrade, agent);
  else if (subresource === 'exec' || subresource === 'attach') await serveProcess(upgrade, agent);
  else throw badRequest('this path does not change its protocol');
}

async function serveProcess(upgrade: Upgrade, agent: AgentReference): Promise<void> {
  const { call, request, socket, head } = upgrade;
  const isSpdy = request.headers.upgrade?.toUpperCase() === SPDY;
  if (isSpdy) checkStreamVersion(request, EXEC_STREAMS);
  else if (!isWebSocket(request.headers)) throw upgradeRequired();
  const protocol = isSpdy ? EXEC_STREAMS : chosenProtocol(request.headers, CHANNEL_PROTOCOLS);
  const isTerminal = flag(call.query, 'tty');
  // A terminal has one output.
  const wanted = ['stdin', 'stdout', 'stderr'].filter((stream) => flag(call.query, stream) && !(isTerminal && stream === 'stderr'));
  if (wanted.length === 0) throw badRequest('you must specify at least one of stdin, stdout, stderr');
  const gone = new AbortController();
  const abandon = () => gone.abort();
  socket.on('close', abandon);
  const command = await start(upgrade, agent, { isTerminal, signal: AbortSignal.any([upgrade.signal, gone.signal]) });
  if (!isSpdy) {
    await served(socket, serveCommand({ connection: accept(upgrade, protocol), command, abandon }));
    return;
  }
  socket.write(spdyAnswer(protocol));
  const carrier = socketCarrier(socket, head);
  await served(socket, serveSpdyCommand({ carrier, command, wanted, isTerminal, abandon, signal: upgrade.signal }));
}

interface Start {
  readonly isTerminal: boolean;
  readonly signal: AbortSignal;
}

async function start({ call, agentIo }: Upgrade, agent: AgentReference, { isTerminal, signal }: Start) {
  const argv = call.query.getAll('command');
  const isExec = call.route.subresource === 'exec';
  if (isExec && argv.length === 0) throw badRequest('you must specify at least one command');
  const options = { argv, hasStdin: flag(call.query, 'stdin'), ...(isTerminal ? { tty: USUAL_SIZE } : {}) };
  const starting = isExec ? agentIo.exec(agent, options, signal) : agentIo.attach(agent, signal);
  return starting.catch((error: unknown) => {
    throw connectProblem(error);
  });
}

/** The client says at once what it really is. */
const USUAL_SIZE = { rows: 24, cols: 80 };

async function servePorts(upgrade: Upgrade, agent: AgentReference): Promise<void> {
  const { call, request, socket, head, agentIo, signal } = upgrade;
  const forwarding = { agentIo, agent, signal };
  if (request.headers.upgrade?.toUpperCase() === SPDY) {
    checkStreamVersion(request, PORT_FORWARD);
    socket.write(spdyAnswer(PORT_FORWARD));
    await served(socket, forwardIn(socketCarrier(socket, head), upgrade, agent));
    return;
  }
  if (!isWebSocket(request.headers)) throw upgradeRequired();
  const protocol = chosenProtocol(request.headers, [TUNNEL, ...FORWARD_PROTOCOLS, NO_PROTOCOL]);
  if (protocol !== TUNNEL) {
    const ports = portsOf(call.query);
    await served(socket, forwardChannels({ ...forwarding, ports, protocol, connection: accept(upgrade, protocol) }));
    return;
  }
  const connection = accept(upgrade, protocol);
  const carrier: Carrier = {
    chunks: () => connection.messages(),
    send: (...parts) => connection.send(...parts),
    drained: () => connection.drained(),
    close: () => connection.close(1000),
  };
  await served(socket, forwardIn(carrier, upgrade, agent));
}

/** There is no Status any more to say it with. */
function served(socket: Duplex, stream: Promise<void>): Promise<void> {
  return stream.catch(() => void socket.destroy());
}

async function forwardIn(carrier: Carrier, { agentIo, signal }: Upgrade, agent: AgentReference): Promise<void> {
  const session = new SpdySession(carrier, spdyForwarder({ agentIo, agent, signal }));
  const end = () => session.close();
  signal.addEventListener('abort', end, { once: true });
  await session.run();
  signal.removeEventListener('abort', end);
}

function spdyAnswer(protocol: string): string {
  return [
    'HTTP/1.1 101 Switching Protocols',
    `Upgrade: ${SPDY}`,
    'Connection: Upgrade',
    `X-Stream-Protocol-Version: ${protocol}`,
    '\r\n',
  ].join('\r\n');
}

/** Each of the client's in a header of its own, or all in one. */
function checkStreamVersion({ headers }: IncomingMessage, served: string): void {
  const offered = String(headers['x-stream-protocol-version'] ?? '');
  if (offered.split(/,\s*/).includes(served)) return;
  throw failure(403, `none of the stream protocols ${JSON.stringify(offered)} is served here; ${served} is`);
}

/** From here on it is a WebSocket; the end of the server's patience is its end too. */
function accept({ request, socket, head, signal }: Upgrade, protocol: string): WebSocketConnection {
  socket.write(handshakeAnswer(request.headers, protocol));
  const connection = new WebSocketConnection(socket, head);
  const end = () => connection.close(1001, 'the server ends this stream');
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  socket.on('close', () => signal.removeEventListener('abort', end));
  return connection;
}

/** In the words of a kubelet whose container does not run. */
function connectProblem(error: unknown): unknown {
  if (!isCode(error, 'Unavailable')) return error;
  return failure(500, `unable to upgrade connection: container not found (${JSON.stringify(CONTAINER)}): ${messageOf(error)}`, {
    cause: error,
  });
}
