/**
 * Asks the guest over the agent's socket. The few lines of HTTP that this takes are written here: Node's own client would take longer to load
 * than everything else that the command does.
 */
import { connect } from 'node:net';
import type { Result } from './command.ts';

export interface RefusalDetails {
  readonly code?: string | undefined;
  /** The same may pass after this time. */
  readonly retryAfterMs?: number | undefined;
}

/** What the guest, or the host behind it, does not do, in one line. */
export class Refusal extends Error {
  readonly code: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { code, retryAfterMs }: RefusalDetails = {}) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

export async function ask(socketPath: string | undefined, verb: string, params: object = {}): Promise<Result> {
  if (socketPath === undefined || socketPath === '')
    throw new Refusal('AGENTISO_SOCKET is not set: this command works inside the workspace of an agent');
  const { status, text } = await post(socketPath, `/${verb}`, JSON.stringify(params));
  const result = parseJson(text);
  if (status === 200) return result;
  const { code = status, message = text.slice(0, 200), hint, retry_after_ms: retryAfterMs } = result;
  throw new Refusal(oneLine(`${code}: ${message}${hint === undefined ? '' : ` (${hint})`}`), { code, retryAfterMs });
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

function post(path: string, url: string, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    let received: Buffer = Buffer.alloc(0);
    const fail = (why: string) => {
      socket.destroy();
      reject(new Refusal(`the agent does not answer: ${why}`));
    };
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const answer = parseAnswer(received);
      if (answer === 'unreadable') fail('what it says is no answer');
      if (typeof answer !== 'object') return;
      socket.destroy();
      resolve(answer);
    });
    socket.on('error', ({ code, message }: NodeJS.ErrnoException) => fail(code ?? message));
    socket.on('end', () => fail('it hung up'));
    const head = `POST ${url} HTTP/1.1\r\nhost: agent\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
    socket.write(`${head}connection: close\r\n\r\n${body}`);
  });
}

/** The guest says of every answer how long it is. */
export function parseAnswer(received: Buffer): Answer | 'incomplete' | 'unreadable' {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return 'incomplete';
  const head = received.toString('latin1', 0, end);
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(head) ?? [];
  const [, bytes] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
  if (status === undefined || bytes === undefined) return 'unreadable';
  const start = end + 4;
  if (received.length - start < Number(bytes)) return 'incomplete';
  return { status: Number(status), text: received.toString('utf8', start, start + Number(bytes)) };
}

function parseJson(text: string): Result {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
