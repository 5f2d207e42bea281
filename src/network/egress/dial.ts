/** From a name to a connection: resolved once, every address looked at, and connected to one of just those addresses. */
import { connect as connectSocket, isIP, type Socket } from 'node:net';
import { messageOf } from '#lib/errors.ts';
import { timeLimit } from '#lib/time-limit.ts';
import { isOwn, isPublic, ownAddresses } from './addresses.ts';
import type { Lookups } from './lookups.ts';
import type { Target } from './names.ts';
import { Refusal } from './refusal.ts';

/** Resolves when the connection stands. Both directions end on their own. */
export type Connect = (address: string, port: number, signal: AbortSignal) => Promise<Socket>;

export interface DialOptions {
  readonly lookups: Lookups;
  readonly connect: Connect;
  readonly connectMs: number;
}

/** A name with more addresses than this is not tried to the end. */
const MAX_TRIES = 4;

export async function dial(target: Target, agentId: string, options: DialOptions, signal: AbortSignal): Promise<Socket> {
  const addresses = isIP(target.host) ? [target.host] : await options.lookups.addressesOf(target.host, agentId);
  refuseAddresses(target.host, addresses);
  return connectToAny(target, addresses, options, signal);
}

/** One bad address spoils the name: whoever put it there may put it first the next time. */
function refuseAddresses(host: string, addresses: readonly string[]): void {
  const own = ownAddresses();
  for (const address of addresses) {
    if (!isPublic(address)) throw new Refusal(403, 'AddressNotAllowed', `${host} is ${address}, which is not on the public internet`);
    if (isOwn(address, own)) throw new Refusal(403, 'AddressNotAllowed', `${host} is ${address}, which is this machine`);
  }
}

async function connectToAny(
  { host, port }: Target,
  addresses: readonly string[],
  { connect, connectMs }: DialOptions,
  signal: AbortSignal,
): Promise<Socket> {
  let last: unknown;
  for (const address of addresses.slice(0, MAX_TRIES)) {
    try {
      return await connect(address, port, AbortSignal.any([signal, timeLimit(connectMs)]));
    } catch (error) {
      last = error;
    }
    if (signal.aborted) break;
  }
  throw new Refusal(502, 'ConnectFailed', `${host}:${port} could not be reached: ${asciiOf(messageOf(last))}`);
}

/** The signal is for connecting only: what is connected does not end with it. */
export function connectByAddress(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket({ host: address, port, allowHalfOpen: true, noDelay: true });
    const onAbort = () => socket.destroy(signal.reason instanceof Error ? signal.reason : new Error('no longer wanted'));
    socket.once('error', (error) => {
      signal.removeEventListener('abort', onAbort);
      reject(error);
    });
    socket.once('connect', () => {
      signal.removeEventListener('abort', onAbort);
      resolve(socket);
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort);
  });
}

function asciiOf(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
