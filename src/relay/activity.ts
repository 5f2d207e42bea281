/**
 * What an agent says and what waits in its inbox, for its status: a view that changes at most once a second, so that a busy inbox costs no
 * write to disk per message. Kept in memory: what is lost with the process is in the mailboxes, or one second of news.
 */
import { keyOf, type ObjectKey } from '#api/meta.ts';
import type { Agent } from '#api/types.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import type { Logger } from '#lib/log.ts';
import { MAX_UNACKED } from '#mail/limits.ts';
import type { Mail, MailboxState } from '#mail/mail.ts';

/** What was known when it was last worth showing. */
export interface InboxView {
  readonly mailbox: MailboxState;
  readonly isFull: boolean;
  /** Absent: nothing since this process began. */
  readonly progress?: { readonly text: string; readonly time: string };
  readonly lastActivity?: string;
}

export interface ActivityDeps {
  readonly mail: Pick<Mail, 'open' | 'onChange'>;
  readonly agentByUid: (uid: string) => Agent | undefined;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly timing?: Partial<Timing>;
}

interface Timing {
  /** Between two views of one agent. */
  readonly everyMs: number;
  /** For a sign of life alone. */
  readonly activityMs: number;
}

interface Known {
  view?: InboxView;
  progress?: InboxView['progress'];
  lastActivity?: Date;
  refreshedMs: number;
  timer?: NodeJS.Timeout;
  dueMs: number;
}

const USUAL: Timing = { everyMs: 1_000, activityMs: 60_000 };

export class Activity {
  readonly #deps: ActivityDeps;
  readonly #clock: Clock;
  readonly #timing: Timing;
  readonly #known = new Map<string, Known>();
  readonly #listeners = new Set<(key: ObjectKey) => void>();
  readonly #unsubscribe: () => void;

  constructor(deps: ActivityDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#timing = { ...USUAL, ...deps.timing };
    this.#unsubscribe = deps.mail.onChange(({ owner }) => this.#schedule(owner, this.#timing.everyMs));
  }

  /** A wake of the agent controller. */
  readonly changes = (enqueue: (key: ObjectKey) => void): (() => void) => {
    this.#listeners.add(enqueue);
    return () => this.#listeners.delete(enqueue);
  };

  /** The same until `changes` says so. Undefined while the mailbox cannot be read: whatever was shown before stays. */
  async look({ metadata: { uid } }: Agent): Promise<InboxView | undefined> {
    return this.#known.get(uid)?.view ?? (await this.#refresh(uid));
  }

  onProgress(uid: string, text: string): void {
    const now = this.#clock.now();
    Object.assign(this.#of(uid), { progress: { text: headOf(text), time: now.toISOString() }, lastActivity: now });
    this.#schedule(uid, this.#timing.everyMs);
  }

  onActivity(uid: string): void {
    this.#of(uid).lastActivity = this.#clock.now();
    this.#schedule(uid, this.#timing.activityMs);
  }

  forget(uid: string): void {
    clearTimeout(this.#known.get(uid)?.timer);
    this.#known.delete(uid);
  }

  close(): void {
    this.#unsubscribe();
    for (const uid of [...this.#known.keys()]) this.forget(uid);
  }

  #of(uid: string): Known {
    const known = this.#known.get(uid) ?? { refreshedMs: Number.NEGATIVE_INFINITY, dueMs: Number.POSITIVE_INFINITY };
    this.#known.set(uid, known);
    return known;
  }

  /** The first news after a quiet time are shown at once, further ones together. */
  #schedule(uid: string, spacingMs: number): void {
    if (!this.#staying(uid)) return;
    const known = this.#of(uid);
    const nowMs = performance.now();
    const dueMs = Math.max(nowMs, known.refreshedMs + spacingMs);
    if (dueMs >= known.dueMs) return;
    clearTimeout(known.timer);
    known.dueMs = dueMs;
    known.timer = setTimeout(() => void this.#show(uid), dueMs - nowMs).unref();
  }

  /** One that is being deleted shows nothing any more, and its mailbox must not come back. */
  #staying(uid: string): Agent | undefined {
    const agent = this.#deps.agentByUid(uid);
    return agent?.metadata.deletionTimestamp === undefined ? agent : undefined;
  }

  async #show(uid: string): Promise<void> {
    const agent = this.#staying(uid);
    if (!agent) return this.forget(uid);
    if (!(await this.#refresh(uid))) return;
    for (const listener of this.#listeners) listener(keyOf(agent));
  }

  async #refresh(uid: string): Promise<InboxView | undefined> {
    const known = this.#of(uid);
    // Before the look: what changes during it brings another one.
    known.dueMs = Number.POSITIVE_INFINITY;
    known.refreshedMs = performance.now();
    try {
      const { state: mailbox } = await this.#deps.mail.open(uid);
      const { progress, lastActivity } = known;
      known.view = {
        mailbox,
        isFull: mailbox.unacked >= MAX_UNACKED,
        ...(progress && { progress }),
        ...(lastActivity !== undefined && { lastActivity: lastActivity.toISOString() }),
      };
      return known.view;
    } catch (error) {
      this.#deps.log.warn({ err: error, agent: uid }, 'could not look into a mailbox');
      return undefined;
    }
  }
}

/** A status is something to glance at; the message has the whole text. */
const SHOWN_CHARACTERS = 500;

function headOf(text: string): string {
  const characters = [...text];
  return characters.length <= SHOWN_CHARACTERS ? text : `${characters.slice(0, SHOWN_CHARACTERS - 1).join('')}…`;
}
