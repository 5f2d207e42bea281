/** How a server proves that it has understood the handshake of a WebSocket (RFC 6455, section 4.2.2). Pure. */
import { createHash } from 'node:crypto';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key`. */
export function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}${GUID}`).digest('base64');
}
