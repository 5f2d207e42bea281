/** The two ends of a way that messages take. Each runs in a process of its own; times are those of the machine's one monotonic clock. */

export interface SendingEnd {
  /** Resolves when whoever keeps messages on this way has accepted it. */
  send(to: number, text: string): Promise<void>;
}

export interface ReceivingEnd {
  /** Called once for each message, as soon as a reader may have it. */
  onText(listener: (text: string) => void): void;
}

/** How many readers a sender of many messages spreads them over: an inbox takes a hundred that nobody has seen. */
export const READERS = 10;
const TEXT_BYTES = 512;

export function nowNs(): bigint {
  return process.hrtime.bigint();
}

/** 512 bytes that begin with the time of sending and differ from all others. */
export function stampedText(index: number): string {
  return `${nowNs()} ${index} `.padEnd(TEXT_BYTES, 'x');
}

/** Milliseconds since a text was stamped. */
export function ageMs(text: string): number {
  return Number(nowNs() - BigInt(text.slice(0, text.indexOf(' ')))) / 1e6;
}
