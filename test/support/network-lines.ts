/** Calls over lines of JSON: how a test talks to the processes it has in other network namespaces. */
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

// biome-ignore lint/suspicious/noExplicitAny: both ends are tests, and what goes over a pipe is JSON.
export type Handlers = Readonly<Record<string, (...args: any[]) => unknown>>;

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly reason?: string };
}

export class CallError extends Error {
  readonly reason: string | undefined;

  constructor({ message, reason }: NonNullable<Answer['error']>) {
    super(message);
    this.reason = reason;
  }
}

export type Call = (method: string, ...args: unknown[]) => Promise<unknown>;

/** Answers calls until the input ends, then ends the process. */
export function serveCalls(handlers: Handlers): void {
  const answer = async (line: string): Promise<void> => {
    const { id, method, args } = JSON.parse(line) as { id: number; method: string; args: unknown[] };
    try {
      const result = await handlers[method]?.(...args);
      process.stdout.write(`${JSON.stringify({ id, result })}\n`);
    } catch (error) {
      const { message, reason } = error as Error & { reason?: string };
      process.stdout.write(`${JSON.stringify({ id, error: { message, reason } })}\n`);
    }
  };
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => void answer(line));
  lines.on('close', () => process.exit(0));
  process.stdout.write(`${JSON.stringify({ id: 0 })}\n`);
}

/** The other end. Resolves when the process listens. */
export async function openCalls({ stdin, stdout }: { readonly stdin: Writable; readonly stdout: Readable }): Promise<Call> {
  const waiting = new Map<number, (answer: Answer) => void>();
  let calls = 0;
  const lines = createInterface({ input: stdout });
  lines.on('line', (line) => {
    const answer = JSON.parse(line) as Answer;
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  lines.on('close', () => {
    for (const [id, done] of waiting) done({ id, error: { message: 'the process ended before it answered' } });
  });
  const answerTo = (id: number): Promise<unknown> =>
    new Promise((resolve, reject) => {
      waiting.set(id, ({ result, error }) => (error ? reject(new CallError(error)) : resolve(result)));
    });
  const listening = answerTo(0);
  await listening;
  return (method, ...args) => {
    const id = ++calls;
    stdin.write(`${JSON.stringify({ id, method, args })}\n`);
    return answerTo(id);
  };
}
