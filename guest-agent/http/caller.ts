/** Who is asking: the agent itself by its own token, or a peer by the team's token and the address it comes from. Pure. */
import type { Socket } from 'node:net';
import type { ConfigureParams } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { lazy } from '../lazy-modules.ts';

export type Settings = Pick<ConfigureParams, 'agentToken' | 'teamToken' | 'card' | 'peers'>;
export type Caller = { readonly kind: 'self' } | { readonly kind: 'peer'; readonly name: string };

export interface Credentials {
  readonly authorization: string | undefined;
  readonly address: string | undefined;
}

export function identify({ agentToken, teamToken, peers }: Settings, { authorization, address }: Credentials): Caller {
  const token = /^Bearer +(?<token>\S+) *$/i.exec(authorization ?? '')?.groups?.['token'];
  if (token === undefined) throw new ProtocolError('Unauthenticated', 'Authorization: Bearer with a token is required');
  if (isSame(token, agentToken)) return { kind: 'self' };
  if (teamToken === null) throw new ProtocolError('Forbidden', 'this agent takes no requests from peers');
  if (!isSame(token, teamToken)) throw new ProtocolError('Unauthenticated', "this is neither the agent's nor the team's token");
  const source = withoutMapping(address ?? '');
  const name = Object.hasOwn(peers, source) ? peers[source] : undefined;
  if (name === undefined) throw new ProtocolError('Forbidden', `${source} is not the address of a peer`);
  return { kind: 'peer', name };
}

/** Whether the other end is in the same workspace: it came over loopback, or from the address that it went to. */
export function isWithin({ localAddress, remoteAddress }: Pick<Socket, 'localAddress' | 'remoteAddress'>): boolean {
  if (localAddress === undefined || remoteAddress === undefined) return false;
  const source = withoutMapping(remoteAddress);
  return source.startsWith('127.') || source === withoutMapping(localAddress);
}

/** Takes the same time wherever they differ, and however long they are. An empty token opens nothing. */
function isSame(given: string, expected: string): boolean {
  return lazy.crypto.timingSafeEqual(digest(given), digest(expected)) && expected !== '';
}

function digest(token: string): Buffer {
  return lazy.crypto.createHash('sha256').update(token).digest();
}

function withoutMapping(address: string): string {
  return address.replace(/^::ffff:/i, '');
}
