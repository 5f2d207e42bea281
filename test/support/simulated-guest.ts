/**
 * A guest without a process: it fetches its mail from the real mailbox, remembers which attempts it has started, lets them take their time,
 * and offers results until they are acknowledged. Its memory outlives the daemon, as a guest's disk does.
 */
import type { RelayDesk } from '#guest/create-sessions.ts';
import { UnavailableError } from '#lib/errors.ts';
import type { AttemptKey, ControlParams, TaskResult } from '#protocol/control.ts';
import type { Envelope, HeartbeatParams, TaskAssignment } from '#protocol/relay.ts';
import { Heartbeat, toHeartbeat } from '../../guest-agent/relay/heartbeat.ts';

/** How a guest reaches the daemon that is there now. */
export interface HostLine {
  readonly desk: RelayDesk;
  readonly beat: (heartbeat: HeartbeatParams) => void;
}

export interface GuestRecord {
  readonly id: string;
  readonly incarnation: string;
  readonly pid: number;
  /** The last seq of its mailbox that it has. */
  readonly cursor: number;
  /** Attempts that were ever started, one entry for each start. */
  readonly starts: readonly string[];
  readonly results: readonly TaskResult[];
  /** What is in work. */
  readonly running: readonly Assigned[];
  /** Attempts that are never to start. */
  readonly revoked: readonly string[];
}

interface Assigned {
  readonly assignment: TaskAssignment;
  readonly messageId: string;
}

interface Run extends Assigned {
  readonly timer: NodeJS.Timeout;
}

const DEFAULT_SLOTS = 4;
/** As the real guest: makes up for hints that are lost. */
const LOOK_MS = 2_000;
const MAX_PULL = 100;

export class SimulatedGuest {
  readonly id: string;
  readonly incarnation: string;
  readonly pid: number;
  readonly starts: string[];
  isConfigured = false;
  readonly #results: Map<string, TaskResult>;
  readonly #revoked: Set<string>;
  readonly #running = new Map<string, Run>();
  readonly #taskMs: (command: string) => number;
  readonly #heartbeat: Heartbeat;
  #line: HostLine | undefined;
  #look: NodeJS.Timeout | undefined;
  #cursor: number;
  #slots = DEFAULT_SLOTS;
  #pulling: { again: boolean } | undefined;

  constructor({ id, incarnation, pid, cursor, starts, results, running, revoked }: GuestRecord, taskMs: (command: string) => number) {
    this.id = id;
    this.incarnation = incarnation;
    this.pid = pid;
    this.starts = [...starts];
    this.#cursor = cursor;
    this.#taskMs = taskMs;
    this.#results = new Map(results.map((result) => [toKey(result), result]));
    this.#revoked = new Set(revoked);
    this.#heartbeat = new Heartbeat(async () => this.#line?.beat(this.#describe()));
    for (const assigned of running) this.#run(assigned);
  }

  attach(line: HostLine): void {
    this.#line = line;
    this.#heartbeat.start();
    this.#look = setInterval(() => this.#pull(), LOOK_MS).unref();
    this.#pull();
  }

  detach(): void {
    this.#line = undefined;
    this.isConfigured = false;
    this.#heartbeat.stop();
    clearInterval(this.#look);
  }

  /** The workspace is gone, and what ran in it. */
  end(): void {
    this.detach();
    for (const { timer } of this.#running.values()) clearTimeout(timer);
    this.#running.clear();
  }

  hint(nextSeq: number): void {
    if (nextSeq - 1 > this.#cursor) this.#pull();
  }

  answer(method: string, params: unknown): unknown {
    switch (method) {
      case 'configure':
        this.isConfigured = true;
        this.#slots = (params as ControlParams<'configure'>).maxTasks;
        return {};
      case 'setEnv':
        return {};
      case 'pollResults':
        return this.#poll(params as ControlParams<'pollResults'>);
      case 'ackResults':
        for (const key of (params as ControlParams<'ackResults'>).keys) this.#results.delete(toKey(key));
        this.#heartbeat.changed();
        return {};
      case 'revokeTask':
        return { wasRunning: this.#revoke(params as AttemptKey) };
      default:
        throw new UnavailableError(`a simulated guest does not know ${method}`);
    }
  }

  record(): GuestRecord {
    const { id, incarnation, pid, starts } = this;
    const running = [...this.#running.values()].map(({ assignment, messageId }) => ({ assignment, messageId }));
    return {
      id,
      incarnation,
      pid,
      cursor: this.#cursor,
      starts,
      running,
      results: [...this.#results.values()],
      revoked: [...this.#revoked],
    };
  }

  #describe(): HeartbeatParams {
    return toHeartbeat({
      load: 0,
      runningTasks: this.#runningTasks(),
      freeSlots: Math.max(0, this.#slots - this.#running.size),
      pendingResults: this.#results.size,
      storedSeq: this.#cursor,
    });
  }

  #runningTasks(): AttemptKey[] {
    return [...this.#running.values()].map(({ assignment: { taskUid, attempt } }) => ({ taskUid, attempt }));
  }

  /** One at a time; one that is asked for meanwhile follows. */
  #pull(): void {
    if (this.#pulling) {
      this.#pulling.again = true;
      return;
    }
    const pulling = { again: false };
    this.#pulling = pulling;
    void this.#fetch()
      // The next look tries again.
      .catch(() => {})
      .finally(() => {
        this.#pulling = undefined;
        if (pulling.again) this.#pull();
      });
  }

  async #fetch(): Promise<void> {
    const { desk } = this.#line ?? {};
    if (!desk) return;
    const context = { signal: new AbortController().signal, incarnation: this.incarnation };
    const { messages } = await desk.teamReceive(this.id, { after: this.#cursor, limit: MAX_PULL }, context);
    const fresh = messages.filter(({ seq }) => seq > this.#cursor);
    if (fresh.length === 0) return;
    for (const message of fresh) this.#take(message);
    await desk.teamAck(this.id, { storedSeq: this.#cursor, seen: [] }, context);
  }

  #take(message: Envelope): void {
    this.#cursor = message.seq;
    if (message.message_type !== 'task_assignment') return;
    const assignment = JSON.parse(message.content) as TaskAssignment;
    const key = toKey(assignment);
    if (this.starts.includes(key) || this.#revoked.has(key)) return;
    this.starts.push(key);
    this.#run({ assignment, messageId: message.message_id });
    this.#heartbeat.changed();
  }

  #run({ assignment, messageId }: Assigned): void {
    const key = toKey(assignment);
    const ms = this.#taskMs(assignment.command);
    const timer = setTimeout(() => this.#finish(key, toResult(assignment, messageId, ms)), ms);
    this.#running.set(key, { assignment, messageId, timer });
  }

  #finish(key: string, result: TaskResult): void {
    this.#running.delete(key);
    this.#results.set(key, result);
    this.#heartbeat.changed();
  }

  #poll({ limit }: ControlParams<'pollResults'>) {
    return { results: [...this.#results.values()].slice(0, limit), pendingTasks: this.#running.size, running: this.#runningTasks() };
  }

  #revoke(attempt: AttemptKey): boolean {
    const key = toKey(attempt);
    const run = this.#running.get(key);
    clearTimeout(run?.timer);
    this.#running.delete(key);
    this.#results.delete(key);
    this.#revoked.add(key);
    this.#heartbeat.changed();
    return run !== undefined;
  }
}

function toKey({ taskUid, attempt }: AttemptKey): string {
  return `${taskUid}/${attempt}`;
}

function toResult({ taskUid, taskName, attempt, fencingToken }: TaskAssignment, sourceMessageId: string, elapsedMs: number): TaskResult {
  return {
    taskUid,
    taskName,
    attempt,
    fencingToken,
    isLost: false,
    exitCode: 0,
    stdout: `${taskName}\n`,
    stderr: '',
    stdoutTruncated: false,
    stderrTruncated: false,
    timedOut: false,
    elapsedMs,
    sourceMessageId,
  };
}
