/** Background jobs: commands that outlive the request that started them, until the guest ends. */
import { constants } from 'node:os';
import type { JobState } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { monotonicMs } from '../monotonic.ts';
import { signalGroup } from '../process-group.ts';
import { type CommandStart, type StartedCommand, startCommand } from '../started-command.ts';
import { type Budget, JobOutput } from './job-output.ts';

const MAX_JOBS = 1_000;
const FORGET_AFTER_MS = 3_600_000;
const KILL_WAIT_MS = 500;
/** Of all jobs together, beside the limit of each stream. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

export interface Job {
  readonly jobId: number;
  readonly startedAt: string;
  readonly stdout: JobOutput;
  readonly stderr: JobOutput;
  readonly command: StartedCommand;
  /** Resolves when the job has ended and its output is complete. */
  ended: Promise<void>;
  end?: { readonly exitCode: number; readonly endedAt: string; readonly atMs: number };
}

export interface JobTableOptions {
  /** Milliseconds from any start, always forward. */
  readonly now?: () => number;
  readonly maxJobs?: number;
}

export class JobTable {
  readonly #jobs = new Map<number, Job>();
  readonly #budget: Budget = { bytes: MAX_KEPT_BYTES };
  readonly #now: () => number;
  readonly #maxJobs: number;
  #lastId = 0;
  #starting = 0;

  constructor({ now = monotonicMs, maxJobs = MAX_JOBS }: JobTableOptions = {}) {
    this.#now = now;
    this.#maxJobs = maxJobs;
  }

  /** Rejects when the command cannot be started. */
  async start(command: Omit<CommandStart, 'signal'>): Promise<Job> {
    this.#forgetOld();
    if (this.#jobs.size + this.#starting >= this.#maxJobs) {
      throw new ProtocolError('Unavailable', `there are already ${this.#maxJobs} jobs; finished ones are forgotten after an hour`);
    }
    this.#starting += 1;
    try {
      return this.#keep(await startCommand({ ...command, signal: new AbortController().signal }));
    } finally {
      this.#starting -= 1;
    }
  }

  get(jobId: number): Job {
    this.#forgetOld();
    const job = this.#jobs.get(jobId);
    if (job === undefined) throw new ProtocolError('NotFound', `there is no job ${jobId}`);
    return job;
  }

  list(): readonly Job[] {
    this.#forgetOld();
    return [...this.#jobs.values()];
  }

  /** To the job's whole group; then waits a moment for the end. */
  async kill(jobId: number, signal = 'SIGKILL'): Promise<Job> {
    const job = this.get(jobId);
    const name = toSignal(signal);
    if (job.end === undefined) signalGroup(job.command.groupId, name);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, KILL_WAIT_MS);
    });
    await Promise.race([job.ended, late]);
    clearTimeout(timer);
    return job;
  }

  #keep(command: StartedCommand): Job {
    const stdout = new JobOutput(this.#budget);
    const stderr = new JobOutput(this.#budget);
    command.stdout.on('data', (chunk) => stdout.add(chunk));
    command.stderr.on('data', (chunk) => stderr.add(chunk));
    const job: Job = { jobId: ++this.#lastId, startedAt: new Date().toISOString(), stdout, stderr, command, ended: Promise.resolve() };
    job.ended = this.#finish(job);
    this.#jobs.set(job.jobId, job);
    return job;
  }

  async #finish(job: Job): Promise<void> {
    const { exitCode, stoppedBy } = await job.command.exited;
    await job.command.drained();
    job.stdout.complete();
    job.stderr.complete();
    job.end = { exitCode: stoppedBy === undefined ? exitCode : -1, endedAt: new Date().toISOString(), atMs: this.#now() };
  }

  /** When somebody looks, not by a timer: nothing is freed that nobody misses. */
  #forgetOld(): void {
    const before = this.#now() - FORGET_AFTER_MS;
    for (const job of this.#jobs.values()) {
      if (job.end === undefined || job.end.atMs > before) continue;
      this.#jobs.delete(job.jobId);
      job.stdout.forget();
      job.stderr.forget();
    }
  }
}

export function toJobState({ jobId, startedAt, stdout, stderr, end }: Job): JobState {
  return {
    jobId,
    isRunning: end === undefined,
    startedAt,
    stdoutBytes: stdout.totalBytes,
    stderrBytes: stderr.totalBytes,
    ...(end !== undefined && { exitCode: end.exitCode, endedAt: end.endedAt }),
  };
}

/** TERM, SIGTERM and 15 are the same. */
export function toSignal(text: string): NodeJS.Signals {
  const known = Object.entries(constants.signals) as [NodeJS.Signals, number][];
  const upper = text.toUpperCase();
  const found = known.find(([name, number]) => upper === name || `SIG${upper}` === name || text === String(number));
  if (found === undefined) throw new ProtocolError('Invalid', `signal ${JSON.stringify(text)} is not known: SIGTERM, TERM and 15 are`);
  return found[0];
}
