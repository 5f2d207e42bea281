/**
 * A coding agent as a process group of its own: it gets no signal that is meant for the runner, and all of it can be ended. The guest is
 * told of the group, so that it ends the group itself when the runner cannot.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Launch } from '#backends/backend.ts';
import { keepEnd } from './cut.ts';
import { RunFailure } from './failure.ts';
import { isGroupAlive } from './live-group.ts';

/** The guest gives the runner 5 s for everything: there must be time left to say what came of it. */
const KILL_GRACE_MS = 2_500;
const POLL_MS = 50;
const MAX_STDERR_BYTES = 64 * 1024;
/** What of it a complaint quotes. */
const QUOTED_BYTES = 2_000;

export interface AgentStart {
  readonly launch: Launch;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly groupsFd: number | undefined;
  readonly onStderr: (chunk: Buffer) => void;
}

export class AgentProcess {
  readonly child: ChildProcess;
  /** Resolves with words about how it ended; never rejects. */
  readonly exited: Promise<string>;
  readonly #groupId: number;
  readonly #groupsFd: number | undefined;
  #stderr = '';
  #hasExited = false;
  #ending: Promise<void> | undefined;

  private constructor(child: ChildProcess, groupId: number, start: AgentStart) {
    this.child = child;
    this.#groupId = groupId;
    this.#groupsFd = start.groupsFd;
    this.#tell('+');
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = keepEnd(this.#stderr + String(chunk), MAX_STDERR_BYTES);
      start.onStderr(chunk);
    });
    // One that is gone cannot be written to, and its end says why.
    child.stdin?.on('error', () => {});
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#hasExited = true;
        resolve(signal === null ? `it exited with ${code}` : `it was ended by ${signal}`);
      });
    });
  }

  /** Rejects with BackendMissing or BackendFailed when there is nothing to start. */
  static async start(start: AgentStart): Promise<AgentProcess> {
    const { launch, env, cwd } = start;
    const [file, ...args] = launch.argv;
    const child = spawn(file, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    if (child.pid === undefined) {
      const [error] = (await once(child, 'error')) as [NodeJS.ErrnoException];
      const code = error.code === 'ENOENT' ? 'BackendMissing' : 'BackendFailed';
      throw new RunFailure(code, `${file} cannot be started: ${error.code ?? error.message}`, error);
    }
    return new AgentProcess(child, child.pid, start);
  }

  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** The end of what it complained about, for people. */
  get lastComplaints(): string {
    return keepEnd(this.#stderr, QUOTED_BYTES).trim();
  }

  /** All that it said on standard error, as far as it is kept. */
  get complaints(): string {
    return this.#stderr;
  }

  /** Its input ends, then it is asked to, then it is made to. Nothing of its group is left when this resolves. */
  end(patienceMs: number): Promise<void> {
    this.#ending ??= this.#end(patienceMs);
    return this.#ending;
  }

  async #end(patienceMs: number): Promise<void> {
    this.child.stdin?.end();
    await this.#goneWithin(patienceMs);
    if (this.#signal('SIGTERM')) await this.#goneWithin(KILL_GRACE_MS);
    this.#signal('SIGKILL');
    await this.exited;
    this.#tell('-');
  }

  async #goneWithin(limitMs: number): Promise<void> {
    const endMs = performance.now() + limitMs;
    while (performance.now() < endMs && (!this.#hasExited || isGroupAlive(this.#groupId))) await delay(POLL_MS);
  }

  /** False: nobody is left. */
  #signal(signal: NodeJS.Signals): boolean {
    try {
      process.kill(-this.#groupId, signal);
      return true;
    } catch {
      return false;
    }
  }

  #tell(what: '+' | '-'): void {
    if (this.#groupsFd !== undefined) writeSync(this.#groupsFd, `${what}${this.#groupId}\n`);
  }
}
