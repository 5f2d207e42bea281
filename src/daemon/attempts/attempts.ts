/**
 * Attempts of tasks on their way to agents and their results on the way back: assignments go through the agent's mailbox, results are
 * asked for over its session. What is kept here can be asked for again; nothing is lost with this process.
 */
import type { Agent, Task } from '#api/types.ts';
import { shortName } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Attempts, Outcome } from '#controllers/task/attempts.ts';
import { isHeld } from '#controllers/task/card.ts';
import { isStoppedWithDaemon } from '#controllers/task/roster.ts';
import type { Session, Sessions } from '#guest/sessions.ts';
import { awakeMs } from '#lib/awake-time.ts';
import { ignoreNotFound } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import type { Mailbox } from '#mail/mail.ts';
import type { AttemptKey, TaskResult } from '#protocol/control.ts';
import type { Key, Wake } from '#runtime/controller.ts';
import type { Artifacts, KeptArtifact } from './artifacts.ts';
import { toAssignment, toOutcome } from './attempt-messages.ts';
import type { PromptSources } from './prompt-job.ts';

export interface AttemptsOptions {
  readonly client: Client;
  readonly mail: { open(owner: string): Promise<Pick<Mailbox, 'append' | 'ack' | 'withdraw' | 'state'>> };
  readonly sessions: Pick<Sessions, 'get' | 'onChange'>;
  readonly log: Logger;
  /** Absent: whole outputs are not kept. */
  readonly artifacts?: Pick<Artifacts, 'keep'>;
  /** Notes that go with prompts. */
  readonly vault?: NonNullable<PromptSources['vault']>;
}

export interface OpenAttempts extends Attempts {
  close(): void;
}

const POLL_LIMIT = 20;
const POLL_DEADLINE_MS = 10_000;
/** For a poll that failed although the guest is connected. */
const POLL_RETRY_MS = 2_000;
/** Longer than a guest takes to kill what runs. */
const REVOKE_DEADLINE_MS = 15_000;
/** Whoever asks for the end of an attempt has other attempts to look after. */
const REVOKE_WAIT_MS = 1_000;
/** Signals are sent at once. */
const FREEZE_DEADLINE_MS = 5_000;

/** Before the controllers start: then agents still show that the daemon before this one has stopped them. */
export async function openAttempts(options: AttemptsOptions): Promise<OpenAttempts> {
  const { items } = await options.client.list<Agent>('Agent');
  const stopped = items.filter(isStoppedWithDaemon).flatMap(({ status }) => status?.incarnation ?? []);
  return new GuestAttempts(options, new Set(stopped));
}

class GuestAttempts implements OpenAttempts {
  readonly #options: AttemptsOptions;
  readonly #stopped: ReadonlySet<string>;
  /** Task uid → what was reported of it. */
  readonly #outcomes = new Map<string, Outcome[]>();
  /** Agent uid → what it is still to be told. */
  readonly #accepted = new Map<string, Map<string, AttemptKey>>();
  readonly #revoked = new Map<string, Map<string, AttemptKey>>();
  readonly #revoking = new Map<string, Promise<boolean>>();
  /** Attempt → the agent that has it, and when that was last said. */
  readonly #runners = new Map<string, string>();
  readonly #seenMs = new Map<string, number>();
  /** Results whose whole outputs are on their way: their attempts are over, but not lost. */
  readonly #fetching = new Set<string>();
  readonly #polling = new Map<string, { again: boolean }>();
  /** Agents whose guests have more results than the last poll brought. */
  readonly #hasMore = new Set<string>();
  /** Agent uid → the incarnation that was asked since it connected. */
  readonly #greeted = new Map<string, string>();
  /** Agent uid → the results that last came with a heartbeat: it is looked at more than once. */
  readonly #told = new Map<string, readonly TaskResult[]>();
  readonly #namespaces = new Map<string, string>();
  readonly #listeners = new Set<(key: Key) => void>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #unsubscribe: () => void;
  #isClosed = false;

  constructor(options: AttemptsOptions, stopped: ReadonlySet<string>) {
    this.#options = options;
    this.#stopped = stopped;
    this.#unsubscribe = options.sessions.onChange((id) => this.#onChange(id));
  }

  readonly wake: Wake = (enqueue) => {
    this.#listeners.add(enqueue);
    return () => this.#listeners.delete(enqueue);
  };

  async assign(agent: Agent, task: Task): Promise<void> {
    const { uid, namespace, name } = agent.metadata;
    const { team } = task.spec;
    const assignment = await toAssignment(task, agent, this.#options);
    const mailbox = await this.#options.mail.open(uid);
    this.#runners.set(toKey(assignment), uid);
    await mailbox.append({
      key: toKey(assignment),
      namespace,
      team,
      from: 'system',
      to: shortName(team, name),
      message_type: 'task_assignment',
      content: JSON.stringify(assignment),
    });
  }

  outcomes(taskUid: string): readonly Outcome[] {
    return this.#outcomes.get(taskUid) ?? [];
  }

  async accept(outcome: Outcome): Promise<void> {
    const { agentUid, taskUid, attempt, result } = outcome;
    const mailbox = await this.#options.mail.open(agentUid);
    if (result?.sourceMessageId === undefined) await mailbox.withdraw(toKey(outcome));
    else await mailbox.ack([result.sourceMessageId]);
    this.#drop(outcome);
    entriesOf(this.#accepted, agentUid).set(toKey(outcome), { taskUid, attempt });
    const told = this.#tellAcceptedSoon(agentUid, { taskUid, attempt }).catch((error: unknown) => {
      this.#options.log.debug({ err: error, agent: agentUid }, 'the guest hears later that its result was accepted');
      this.#pollLater(agentUid);
    });
    // What goes with the next message may take a moment, and there is nothing to wait for.
    if (!this.#tellsResults(agentUid)) await told;
    // A poll brings only the first ones: there may be more behind them.
    if (this.#hasMore.has(agentUid) && !this.#hasOutcomesOf(agentUid)) this.#poll(agentUid);
  }

  async revoke(agentUid: string, taskUid: string, attempt: number): Promise<'ended' | 'unreachable'> {
    const mailbox = await this.#options.mail.open(agentUid);
    await mailbox.withdraw(toKey({ taskUid, attempt }));
    this.#drop({ taskUid, attempt });
    const hasEnded = this.#tellRevoked(agentUid, { taskUid, attempt });
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), REVOKE_WAIT_MS);
    });
    const answer = await Promise.race([hasEnded, tooLong]);
    clearTimeout(timer);
    return answer ? 'ended' : 'unreachable';
  }

  lastSeenMs(taskUid: string, attempt: number): number | undefined {
    const key = toKey({ taskUid, attempt });
    if (this.#fetching.has(key)) return awakeMs();
    const session = this.#options.sessions.get(this.#runners.get(key) ?? '');
    if (session) this.#noteRunning(session);
    return this.#seenMs.get(key);
  }

  agentSeenMs(agentUid: string, incarnation: string): number | undefined {
    const session = this.#options.sessions.get(agentUid);
    const { heartbeat, lastHeartbeatMs } = (session?.incarnation === incarnation && session.state) || {};
    // A session that has just begun says nothing of what the guest does.
    return heartbeat && lastHeartbeatMs;
  }

  wasStopped(incarnation: string): boolean {
    return this.#stopped.has(incarnation);
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #onChange(id: string): void {
    const session = this.#options.sessions.get(id);
    if (session) this.#noteRunning(session);
    if (!session?.state.isControlOpen) {
      this.#greeted.delete(id);
      this.#told.delete(id);
      return;
    }
    const { heartbeat } = session.state;
    const isNew = this.#greeted.get(id) !== session.incarnation;
    if (isNew || (heartbeat && !heartbeat.results && heartbeat.pendingResults > 0)) this.#poll(id);
    else if (heartbeat?.results?.length && this.#told.get(id) !== heartbeat.results) this.#takeTold(id, heartbeat.results);
  }

  #noteRunning({ id, state }: Session): void {
    for (const running of state.heartbeat?.runningTasks ?? []) {
      this.#runners.set(toKey(running), id);
      this.#seenMs.set(toKey(running), state.lastHeartbeatMs);
    }
  }

  #poll(id: string): void {
    this.#inTurn(id, () => this.#round(id));
  }

  /** One at a time for each agent; for one that comes meanwhile everything is asked for afterwards. */
  #inTurn(id: string, work: () => Promise<void>): void {
    const current = this.#polling.get(id);
    if (current) {
      current.again = true;
      return;
    }
    const polling = { again: false };
    this.#polling.set(id, polling);
    void work()
      .catch((error: unknown) => {
        this.#options.log.debug({ err: error, agent: id }, 'results not fetched');
        this.#pollLater(id);
      })
      .finally(() => {
        this.#polling.delete(id);
        if (polling.again) this.#poll(id);
      });
  }

  /** What came with a heartbeat. While there is a question under way its answer has them too, or the next one. */
  #takeTold(id: string, results: readonly TaskResult[]): void {
    this.#told.set(id, results);
    this.#hasMore.delete(id);
    this.#inTurn(id, async () => {
      const namespace = await this.#namespaceOf(id);
      if (namespace === undefined) return;
      for (const result of results) await this.#take(id, namespace, result);
    });
  }

  /** While the guest is connected nobody else may come to ask. */
  #pollLater(id: string): void {
    if (this.#isClosed || !this.#options.sessions.get(id)?.state.isControlOpen) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#poll(id);
    }, POLL_RETRY_MS).unref();
    this.#timers.add(timer);
  }

  async #round(id: string): Promise<void> {
    const session = this.#options.sessions.get(id);
    if (this.#isClosed || !session?.state.isControlOpen) return;
    await this.#tellAccepted(id);
    for (const attempt of [...entriesOf(this.#revoked, id).values()]) await this.#tellRevoked(id, attempt);
    const { results, running } = await session.call('pollResults', { limit: POLL_LIMIT }, { deadlineMs: POLL_DEADLINE_MS });
    // Where it is not known there may be: one question too many does no harm. Later ones come with a heartbeat of their own.
    const { pendingResults = Number.POSITIVE_INFINITY } = session.state.heartbeat ?? {};
    if (results.length < pendingResults || results.length === POLL_LIMIT) this.#hasMore.add(id);
    else this.#hasMore.delete(id);
    const namespace = await this.#namespaceOf(id);
    if (namespace === undefined) return;
    for (const result of results) await this.#take(id, namespace, result);
    if (this.#greeted.get(id) === session.incarnation) return;
    await this.#revokeStrays(id, namespace, running);
    this.#greeted.set(id, session.incarnation);
  }

  async #take(agentUid: string, namespace: string, result: TaskResult): Promise<void> {
    const key = toKey(result);
    const { taskUid, taskName, attempt } = result;
    const isKnown = this.outcomes(taskUid).some((outcome) => toKey(outcome) === key);
    if (isKnown || this.#accepted.get(agentUid)?.has(key) || this.#revoked.get(agentUid)?.has(key)) return;
    const taskKey = { kind: 'Task', namespace, name: taskName };
    const task = await ignoreNotFound(this.#options.client.get<Task>(taskKey));
    const outcome = toOutcome(agentUid, result, await this.#keepOutputs(agentUid, task, result));
    if (task?.metadata.uid !== taskUid) {
      this.#options.log.info({ agent: agentUid, task: taskName, taskUid, attempt }, 'dropped the result of a task that is gone');
      await this.accept(outcome);
      return;
    }
    this.#outcomes.set(taskUid, [...this.outcomes(taskUid), outcome]);
    for (const listener of this.#listeners) listener(taskKey);
  }

  /** Before anybody hears of the result, and so before the guest may forget them. Rejects when the round is to be tried again. */
  async #keepOutputs(agentUid: string, task: Task | undefined, result: TaskResult): Promise<readonly KeptArtifact[]> {
    const { artifacts, sessions } = this.#options;
    const session = sessions.get(agentUid);
    const isCurrent = task?.metadata.uid === result.taskUid && isHeld(task) && task.status?.attempt === result.attempt;
    if (!artifacts || !session || !isCurrent || !result.artifacts?.length) return [];
    const key = toKey(result);
    this.#fetching.add(key);
    try {
      return await artifacts.keep(task, result, session);
    } finally {
      this.#fetching.delete(key);
    }
  }

  /** What a guest runs although nobody counts on it any more: it was out of reach when that was decided. */
  async #revokeStrays(id: string, namespace: string, running: readonly AttemptKey[]): Promise<void> {
    if (running.length === 0) return;
    const { items } = await this.#options.client.list<Task>('Task', { namespace });
    const tasks = new Map(items.map((task) => [task.metadata.uid, task]));
    for (const { taskUid, attempt } of running) {
      const task = tasks.get(taskUid);
      if (!task || !isHeld(task) || task.status?.attempt !== attempt) await this.#tellRevoked(id, { taskUid, attempt });
    }
  }

  /** Such a guest also takes acknowledgements with what is said to it anyway. */
  #tellsResults(agentUid: string): boolean {
    const { isControlOpen, heartbeat } = this.#options.sessions.get(agentUid)?.state ?? {};
    return isControlOpen === true && heartbeat?.results !== undefined;
  }

  /** One that cannot be told now stays on the list, for the next question. */
  async #tellAcceptedSoon(agentUid: string, attempt: AttemptKey): Promise<void> {
    const session = this.#options.sessions.get(agentUid);
    if (!session || !this.#tellsResults(agentUid)) return this.#tellAccepted(agentUid);
    await session.accepted([attempt]);
    this.#accepted.get(agentUid)?.delete(toKey(attempt));
  }

  async #tellAccepted(agentUid: string): Promise<void> {
    const accepted = entriesOf(this.#accepted, agentUid);
    const session = this.#options.sessions.get(agentUid);
    if (accepted.size === 0 || !session?.state.isControlOpen) return;
    const told = [...accepted];
    await session.call('ackResults', { keys: told.map(([, key]) => key) }, { deadlineMs: POLL_DEADLINE_MS });
    for (const [key] of told) accepted.delete(key);
  }

  /** True when the guest has ended it for good. One that cannot be asked now is told when it is back. */
  #tellRevoked(agentUid: string, attempt: AttemptKey): Promise<boolean> {
    const key = toKey(attempt);
    const revoked = entriesOf(this.#revoked, agentUid);
    revoked.set(key, attempt);
    const id = `${agentUid} ${key}`;
    const telling = this.#revoking.get(id) ?? this.#askToEnd(agentUid, attempt).finally(() => this.#revoking.delete(id));
    this.#revoking.set(id, telling);
    return telling;
  }

  async freeze(agentUid: string, asked: AttemptKey & { readonly isFrozen: boolean }): Promise<boolean> {
    try {
      const session = this.#options.sessions.get(agentUid);
      if (!session?.state.isControlOpen) return false;
      return (await session.call('freezeTask', asked, { deadlineMs: FREEZE_DEADLINE_MS })).isRunning;
    } catch (error) {
      this.#options.log.debug(
        { err: error, agent: agentUid, ...asked },
        'the guest hears later that an attempt is to stand still, or to go on',
      );
      return false;
    }
  }

  async #askToEnd(agentUid: string, attempt: AttemptKey): Promise<boolean> {
    try {
      const session = this.#options.sessions.get(agentUid);
      if (!session?.state.isControlOpen) return false;
      await session.call('revokeTask', { ...attempt }, { deadlineMs: REVOKE_DEADLINE_MS });
      entriesOf(this.#revoked, agentUid).delete(toKey(attempt));
      return true;
    } catch (error) {
      this.#options.log.debug({ err: error, agent: agentUid, ...attempt }, 'the guest hears later that an attempt was revoked');
      return false;
    }
  }

  /** Without making anything: there may be thousands, and each that is accepted asks. */
  #hasOutcomesOf(agentUid: string): boolean {
    for (const outcomes of this.#outcomes.values()) {
      for (const outcome of outcomes) if (outcome.agentUid === agentUid) return true;
    }
    return false;
  }

  #drop({ taskUid, attempt }: AttemptKey): void {
    const key = toKey({ taskUid, attempt });
    this.#runners.delete(key);
    this.#seenMs.delete(key);
    const left = this.outcomes(taskUid).filter((outcome) => toKey(outcome) !== key);
    if (left.length > 0) this.#outcomes.set(taskUid, left);
    else this.#outcomes.delete(taskUid);
  }

  /** Undefined for an agent that is gone: nobody is left to be told. */
  async #namespaceOf(agentUid: string): Promise<string | undefined> {
    if (!this.#namespaces.has(agentUid)) {
      const { items } = await this.#options.client.list<Agent>('Agent');
      this.#namespaces.clear();
      for (const { metadata } of items) this.#namespaces.set(metadata.uid, metadata.namespace);
    }
    return this.#namespaces.get(agentUid);
  }
}

function toKey({ taskUid, attempt }: AttemptKey): string {
  return `${taskUid}/${attempt}`;
}

function entriesOf(index: Map<string, Map<string, AttemptKey>>, agentUid: string): Map<string, AttemptKey> {
  const entries = index.get(agentUid) ?? new Map<string, AttemptKey>();
  index.set(agentUid, entries);
  return entries;
}
