/** What of a message's headers is meant for the one who is asked, and not for the connection it came by. Pure. */
import type { IncomingMessage } from 'node:http';

const OF_ONE_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'proxy-connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export function endToEndHeaders(message: Pick<IncomingMessage, 'headers' | 'headersDistinct'>): Record<string, string[]> {
  const named = (message.headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const kept: Record<string, string[]> = {};
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    const isFraming = name === 'content-length' || name === 'host';
    if (values === undefined || OF_ONE_CONNECTION.has(name) || (named.includes(name) && !isFraming)) continue;
    kept[name] = values;
  }
  return kept;
}
