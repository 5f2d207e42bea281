/** Who sends a request, from how it came in and what it shows; whoever cannot be known, or is a web page, is refused. */
import type { IncomingMessage } from 'node:http';
import { failure } from '../status.ts';
import { identityFromHeader } from './bearer.ts';
import { isAllowedHost, isCrossOrigin } from './host.ts';
import type { Identity } from './identity.ts';

/** How a request came in. */
export interface Channel {
  /** Whoever can open a private socket is known by that, unless a token says otherwise; others show one. */
  readonly identity?: Identity;
}

export interface Gate {
  readonly tokens: { identityOf(token: string): Identity | undefined };
  /** Names, besides loopback, under which clients may reach us. */
  readonly hosts?: readonly string[];
}

/** The part of a request that says who sends it. */
export type Shown = Pick<IncomingMessage, 'headers' | 'headersDistinct'>;

export function identified({ headers, headersDistinct }: Shown, channel: Channel, { tokens, hosts = [] }: Gate): Identity {
  if (impersonates(headers)) {
    // Ignored, it would do as oneself what was meant to be tried as somebody else.
    throw failure(403, 'forbidden: nobody can be impersonated here; use a token of that identity');
  }
  if (channel.identity) return headers.authorization === undefined ? channel.identity : bearer(headers.authorization, tokens);
  // Node would refuse this by itself, and still do what comes behind it on the connection.
  if (headersDistinct['host']?.length !== 1) throw failure(400, 'exactly one Host header is needed');
  if (!isAllowedHost(headers.host, hosts)) {
    throw failure(403, `forbidden: ${JSON.stringify(headers.host ?? '')} is not a name of this server`);
  }
  if (isCrossOrigin(headers)) throw failure(403, 'forbidden: web pages of other places may not use this server');
  return bearer(headers.authorization, tokens);
}

function bearer(header: string | undefined, tokens: Gate['tokens']): Identity {
  const identity = identityFromHeader(header, tokens);
  if (!identity) throw failure(401, 'Unauthorized');
  return identity;
}

function impersonates(headers: IncomingMessage['headers']): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}
