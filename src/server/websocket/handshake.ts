/** The beginning of a WebSocket (RFC 6455, section 4): what the client must say, and the answer that makes it one. Pure. */
import type { IncomingHttpHeaders } from 'node:http';
import { acceptOf } from '#lib/websocket/accept.ts';
import { badRequest } from '../status.ts';

export function isWebSocket({ upgrade }: IncomingHttpHeaders): boolean {
  return upgrade?.toLowerCase() === 'websocket';
}

/** For clients that offer none, where Kubernetes takes that for the protocol it had before they had names. */
export const NO_PROTOCOL = '';

/** The first of the client's that is served; its order is its preference. */
export function chosenProtocol(headers: IncomingHttpHeaders, served: readonly string[]): string {
  const { 'sec-websocket-key': key = '', 'sec-websocket-version': version, 'sec-websocket-protocol': offered = '' } = headers;
  if (!/^[A-Za-z0-9+/]{22}==$/.test(key) || version !== '13') throw badRequest('this is no handshake of a WebSocket of version 13');
  const chosen = offered
    .split(',')
    .map((word) => word.trim())
    .find((word) => served.includes(word));
  if (chosen === undefined) {
    const names = served.filter((name) => name !== NO_PROTOCOL).join(', ');
    throw badRequest(`none of the WebSocket protocols ${JSON.stringify(offered)} is served here; these are: ${names}`);
  }
  return chosen;
}

export function handshakeAnswer({ 'sec-websocket-key': key = '' }: IncomingHttpHeaders, protocol: string): string {
  return [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${acceptOf(key)}`,
    ...(protocol === NO_PROTOCOL ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
    '\r\n',
  ].join('\r\n');
}
