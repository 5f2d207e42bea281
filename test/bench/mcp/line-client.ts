/**
 * A client over the pipes of a server's process, one request at a time. Not the SDK's, because what a client costs is in every measured
 * value, the echo server's as well as ours, and would hide how the servers differ.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { BenchError } from '../harness/operation.ts';
import { INITIALIZE, INITIALIZED } from './messages.ts';

/** All servers that run, so that one listener is enough for the end of this process. */
const running = new Set<ChildProcess>();
process.prependListener('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class LineClient {
  readonly #child: ChildProcess;
  #rest = '';
  #waiting: { readonly resolve: (line: string) => void; readonly reject: (error: Error) => void } | undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
    running.add(child);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#arrived(text));
    child.stdin?.on('error', () => {});
    child.once('exit', () => {
      running.delete(child);
      this.#waiting?.reject(new BenchError('the server ended'));
    });
  }

  /** `argv` of node. Resolves when the server has answered `initialize`. */
  static async start(argv: readonly string[]): Promise<LineClient> {
    const client = new LineClient(spawn(process.execPath, argv, { stdio: ['pipe', 'pipe', 'inherit'], env: {} }));
    const answer = await client.exchange(INITIALIZE);
    if (!answer.includes('"serverInfo"')) throw new BenchError(`no server: ${answer.slice(0, 200)}`);
    client.#child.stdin?.write(INITIALIZED);
    return client;
  }

  /** The line that answers. */
  exchange(line: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#child.stdin?.write(line);
    });
  }

  /** Ends with its input, as a client's server does. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await exited;
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
