/** The host's end of guest-stand-in.cjs. */
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';

export const STAND_IN_PATH = fileURLToPath(new URL('./guest-stand-in.cjs', import.meta.url));

export interface StandInAnswer {
  readonly port: string;
  readonly id?: string;
  readonly incarnation?: string;
  /** As the guest itself sees it. */
  readonly pid?: number;
  readonly options?: Readonly<Record<string, string | boolean>>;
  readonly exitCode?: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** Asks once and hangs up. */
export async function askStandIn(stream: Duplex, request: object): Promise<StandInAnswer> {
  try {
    stream.write(`${JSON.stringify(request)}\n`);
    let received = '';
    for await (const chunk of stream) {
      received += String(chunk);
      if (received.endsWith('\n')) return JSON.parse(received) as StandInAnswer;
    }
    throw new Error(`the stand-in hung up after: ${received.slice(0, 200)}`);
  } finally {
    stream.destroy();
  }
}
