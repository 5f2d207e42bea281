/** Says now and then that a command still runs, and what it wrote last: whoever waits sees that something happens. */
import { escapeControl } from '#lib/escape.ts';

const EVERY_MS = 5_000;
const TAIL_BYTES = 1_024;
const MAX_LINE_CHARS = 200;

export interface RunProgress {
  onOutput(chunk: Buffer): void;
  stop(): void;
}

export function reportRun(progress: (message: string) => void): RunProgress {
  const startedMs = performance.now();
  let tail: Buffer = Buffer.alloc(0);
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    const line = lastLine(tail.toString());
    progress(line === '' ? `running for ${seconds} s` : `running for ${seconds} s: ${line}`);
  }, EVERY_MS);
  return {
    onOutput(chunk) {
      tail = chunk.length >= TAIL_BYTES ? chunk.subarray(-TAIL_BYTES) : Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
    },
    stop: () => clearInterval(timer),
  };
}

/** The last line with something in it. A line that is drawn again and again counts as it was drawn last. */
export function lastLine(text: string): string {
  const lines = text.split(/[\r\n]/).map((line) => line.trim());
  return escapeControl(lines.findLast((line) => line !== '') ?? '').slice(0, MAX_LINE_CHARS);
}
