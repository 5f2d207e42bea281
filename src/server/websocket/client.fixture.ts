/** What a client sends, made by hand, so that it can also be wrong. */

/** One whole masked frame. */
export function clientFrame(opcode: number, payload: Buffer, { isLast = true } = {}): Buffer {
  const { length } = payload;
  const extra = length < 126 ? 0 : length <= 0xffff ? 2 : 8;
  const head = Buffer.alloc(6 + extra);
  head[0] = (isLast ? 0x80 : 0) | opcode;
  head[1] = 0x80 | (extra === 0 ? length : extra === 2 ? 126 : 127);
  if (extra === 2) head.writeUInt16BE(length, 2);
  if (extra === 8) head.writeBigUInt64BE(BigInt(length), 2);
  const mask = Buffer.from([1, 2, 3, 4]);
  mask.copy(head, 2 + extra);
  return Buffer.concat([head, payload.map((byte, at) => byte ^ (mask[at & 3] as number))]);
}

/** Numbers below the one asked for, always the same for a seed. */
export function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
}
