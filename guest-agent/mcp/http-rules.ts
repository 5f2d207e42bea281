/** What the head of a request must say for MCP over HTTP. Pure. */
import type { IncomingHttpHeaders } from 'node:http';
import { HttpError } from '../http/http-error.ts';
import { isKnownVersion } from './versions.ts';

export interface Head {
  readonly headers: IncomingHttpHeaders;
  /** Of this end; absent on a unix socket. */
  readonly localAddress?: string | undefined;
}

export interface Wishes {
  readonly session: string | undefined;
  readonly version: string | undefined;
  readonly canReadJson: boolean;
  readonly canReadStream: boolean;
}

const MAX_SESSION_CHARS = 200;

/** Throws HttpError. */
export function readHead({ headers, localAddress }: Head): Wishes {
  const { origin } = headers;
  if (origin !== undefined && !isOwnOrigin(origin, localAddress)) {
    throw new HttpError(403, { code: 'Forbidden', message: 'pages of this origin may not use mcp', hint: 'send no Origin' });
  }
  const version = single(headers['mcp-protocol-version']);
  if (version !== undefined && !isKnownVersion(version)) {
    const hint = 'send the version that initialize has answered';
    throw new HttpError(400, { code: 'Invalid', message: 'this MCP-Protocol-Version is not spoken here', hint });
  }
  const accept = readAccept(headers.accept);
  if (!accept.canReadJson && !accept.canReadStream) {
    const hint = 'accept application/json and text/event-stream';
    throw new HttpError(406, { code: 'NotAcceptable', message: 'mcp answers with JSON or with events', hint });
  }
  return { session: single(headers['mcp-session-id'])?.slice(0, MAX_SESSION_CHARS), version, ...accept };
}

/** Only browsers say where their page came from: a page of somebody else must not reach what listens here. */
function isOwnOrigin(origin: string, localAddress: string | undefined): boolean {
  if (!URL.canParse(origin)) return false;
  const { hostname } = new URL(origin);
  return hostname === 'localhost' || hostname.startsWith('127.') || hostname === localAddress;
}

function readAccept(accept = '*/*'): Pick<Wishes, 'canReadJson' | 'canReadStream'> {
  const types = accept.split(',').map((each) => each.split(';', 1)[0]?.trim().toLowerCase() ?? '');
  const isAny = types.includes('*/*');
  return {
    canReadJson: isAny || types.includes('application/json') || types.includes('application/*'),
    canReadStream: types.includes('text/event-stream'),
  };
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
