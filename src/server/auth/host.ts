/**
 * Guards against web pages: a page may make a browser send requests to this machine, or let its own name point here (DNS rebinding).
 * Both show in headers that a page cannot change.
 */
import { ipBytes } from '../tls/ip-bytes.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];
const HOST = /^(\[[0-9a-f:.]+\]|[-a-z0-9.]+)(?::(\d{1,5}))?$/i;

/** Loopback and the given hosts, each with any port. */
export function isAllowedHost(header: string | undefined, allowedHosts: readonly string[]): boolean {
  const [, host, port] = HOST.exec(header ?? '') ?? [];
  if (host === undefined || Number(port ?? 0) > 65_535) return false;
  const asked = canonical(host);
  return [...LOOPBACK, ...allowedHosts].some((allowed) => canonical(allowed) === asked);
}

function canonical(host: string): string {
  return ipBytes(host)?.toString('hex') ?? host.toLowerCase().replace(/\.$/, '');
}

export interface OriginHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly 'sec-fetch-site'?: string | string[] | undefined;
}

/** Sent by a page of another place. Some WebSocket libraries name the server itself as origin; that is no page of another place. */
export function isCrossOrigin(headers: OriginHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'none' && site !== 'same-origin') return true;
  return headers.origin !== undefined && !isSameOrigin(headers.origin, headers.host);
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  const here = `https://${host ?? ''}`;
  return URL.canParse(origin) && URL.canParse(here) && new URL(origin).origin === new URL(here).origin;
}
