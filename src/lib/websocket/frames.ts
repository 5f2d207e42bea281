/** Frames of a WebSocket (RFC 6455, section 5) as both ends write them: no extensions. Pure. */
import { randomBytes } from 'node:crypto';

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export const MAX_CONTROL_BYTES = 125;
export const MASK_BYTES = 4;

export interface Frame {
  readonly opcode: number;
  readonly isLast: boolean;
  readonly payload: Buffer;
}

/** The head of a whole message of a server, which masks nothing. */
export function frameHead(opcode: number, length: number): Buffer {
  const head = Buffer.alloc(2 + extraBytes(length));
  writeHead(head, opcode, { length, maskBit: 0 });
  return head;
}

/** A whole message of a client, which masks everything. */
export function maskedFrame(opcode: number, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const maskAt = 2 + extraBytes(length);
  const frame = Buffer.allocUnsafe(maskAt + MASK_BYTES + length);
  writeHead(frame, opcode, { length, maskBit: 0x80 });
  const mask = randomBytes(MASK_BYTES);
  let at = maskAt + mask.copy(frame, maskAt);
  const payload = frame.subarray(at);
  for (const part of parts) at += part.copy(frame, at);
  applyMask(payload, mask, { from: 0, to: length });
  return frame;
}

/** Puts the mask on, or takes it off. */
export function applyMask(payload: Buffer, mask: Buffer, { from, to }: { readonly from: number; readonly to: number }): void {
  for (let at = from; at < to; at++) payload[at] = (payload[at] as number) ^ (mask[at & 3] as number);
}

/** What says the length behind the first two bytes. */
function extraBytes(length: number): 0 | 2 | 8 {
  return length <= MAX_CONTROL_BYTES ? 0 : length <= 0xffff ? 2 : 8;
}

function writeHead(head: Buffer, opcode: number, { length, maskBit }: { readonly length: number; readonly maskBit: number }): void {
  const extra = extraBytes(length);
  head[0] = 0x80 | opcode;
  head[1] = maskBit | (extra === 0 ? length : extra === 2 ? 126 : 127);
  if (extra === 2) head.writeUInt16BE(length, 2);
  if (extra === 8) head.writeBigUInt64BE(BigInt(length), 2);
}
