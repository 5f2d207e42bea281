/**
 * A client over lines, one request at a time: over the pipes of a server's process, or over a socket. Not the SDK's, because what a client
 * costs is in every measured value, the echo server's as well as ours, and would hide how the servers differ.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { BenchError } from '../harness/operation.ts';
import { INITIALIZE, INITIALIZED } from './messages.ts';

/** All servers that run, so that one listener is enough for the end of this process. */
const running = new Set<ChildProcess>();
process.prependListener('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class LineClient {
  readonly #output: Writable;
  readonly #end: () => Promise<void>;
  #rest = '';
  #waiting: { readonly resolve: (line: string) => void; readonly reject: (error: Error) => void } | undefined;

  private constructor(input: Readable, output: Writable, end: () => Promise<void>) {
    this.#output = output;
    this.#end = end;
    input.setEncoding('utf8').on('data', (text: string) => this.#arrived(text));
    input.once('close', () => this.#waiting?.reject(new BenchError('the server ended')));
    output.on('error', () => {});
  }

  /** `argv` of node. Resolves when the server has answered `initialize`. It ends with its input, as a client's server does. */
  static start(argv: readonly string[]): Promise<LineClient> {
    const child = spawn(process.execPath, argv, { stdio: ['pipe', 'pipe', 'inherit'], env: {} });
    running.add(child);
    child.once('exit', () => running.delete(child));
    const end = async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.stdin.end();
      await exited;
    };
    return new LineClient(child.stdout, child.stdin, end).#greeted();
  }

  static connect(socketPath: string): Promise<LineClient> {
    const socket = createConnection(socketPath);
    return new LineClient(socket, socket, async () => void socket.destroy()).#greeted();
  }

  /** The line that answers. */
  exchange(line: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#output.write(line);
    });
  }

  close(): Promise<void> {
    return this.#end();
  }

  async #greeted(): Promise<this> {
    const answer = await this.exchange(INITIALIZE);
    if (!answer.includes('"serverInfo"')) throw new BenchError(`no server: ${answer.slice(0, 200)}`);
    this.#output.write(INITIALIZED);
    return this;
  }

  #arrived(text: string): void {
    this.#rest += text;
    const end = this.#rest.indexOf('\n');
    if (end < 0) return;
    const line = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end + 1);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(line);
  }
}
