/** One forwarded connection: a local socket and a WebSocket that leads to a port inside. */
import type { Socket } from 'node:net';
import { openWebSocket } from '#client/websocket/open.ts';
import type { ClientSocket } from '#client/websocket/socket.ts';
import { written } from '#lib/drained.ts';
import { FORWARD_PROTOCOLS, HALF_CLOSING } from '#lib/forward-protocol.ts';
import type { Session } from '../api-command.ts';
import { type PodPlace, podPath } from './pod.ts';

const DATA = 0;
const ERRORS = 1;
/** Followed by the channel that is closed; only our own protocol has it. */
const CLOSE = 255;

export interface ForwardRequest {
  readonly pod: PodPlace;
  readonly port: number;
  readonly local: Socket;
}

/** Resolves when it is over; rejects with what the other side says went wrong. `local` is to be paused, and to allow a half that is open. */
export async function forwardConnection({ connection, signal }: Session, { pod, port, local }: ForwardRequest): Promise<void> {
  const path = podPath(pod, 'portforward', { ports: port });
  const socket = await openWebSocket(connection, { path, protocols: FORWARD_PROTOCOLS, signal });
  const leave = () => socket.close();
  signal.addEventListener('abort', leave, { once: true });
  sendLocal(socket, local);
  const problem = await receive(socket, local);
  signal.removeEventListener('abort', leave);
  if (problem === '') {
    local.end();
    return;
  }
  local.destroy();
  throw new Error(problem);
}

function sendLocal(socket: ClientSocket, local: Socket): void {
  local.on('close', () => socket.close());
  local.on('data', (bytes: Buffer) => {
    local.pause();
    void socket.send(Buffer.from([DATA]), bytes).then(() => local.resume());
  });
  local.on('end', () => {
    if (socket.protocol === HALF_CLOSING) void socket.send(Buffer.from([CLOSE, DATA]));
  });
  local.resume();
}

/** Until the other side hangs up; what it says went wrong. */
async function receive(socket: ClientSocket, local: Socket): Promise<string> {
  /** Each channel begins with the port, which is known. */
  const begun = new Set<number>();
  let problem = '';
  for await (const message of socket.messages()) {
    const [channel = 0, closed] = message;
    if (channel === CLOSE && closed === DATA) local.end();
    else if (!begun.has(channel)) begun.add(channel);
    else if (channel === DATA) await written(local, message.subarray(1));
    else if (channel === ERRORS) problem += message.toString('utf8', 1);
  }
  return problem;
}
