/** What this workspace knows of attempts, in `attempts.log`: which wait, which were ever started, which are settled for good. */
import { join } from 'node:path';
import type { AttemptKey } from '#protocol/control.ts';
import { type TaskAssignment, taskAssignment } from '#protocol/relay.ts';
import { count, fieldOf, object, oneOf, type Parsed, text, toFields } from '#protocol/shape.ts';
import { Journal, type JournalOptions } from './journal.ts';

/** Their assignments lie far behind the inbox's cursor by then: they cannot come again. */
const MAX_SETTLED = 10_000;

const assigned = object({ seq: count, messageId: text, assignment: taskAssignment });

/** An assignment as it came out of the mail. */
export type Assigned = Parsed<typeof assigned> & { readonly assignment: TaskAssignment };
export type Settlement = 'acked' | 'revoked';

export type AttemptRecord =
  | ({ readonly type: 'queued' } & Assigned)
  /** From here on the attempt is never started again. */
  | { readonly type: 'started'; readonly key: string }
  | { readonly type: 'settled'; readonly key: string; readonly how: Settlement };

export function toKey({ taskUid, attempt }: AttemptKey): string {
  return `${taskUid}/${attempt}`;
}

export class Attempts {
  readonly #journal: Journal<AttemptRecord>;
  readonly #queued = new Map<string, Assigned>();
  readonly #started = new Map<string, Assigned>();
  readonly #settled = new Map<string, Settlement>();

  constructor(stateDir: string, warn: (text: string) => void, room: Pick<JournalOptions<never>, 'minCompactBytes' | 'onFull'> = {}) {
    this.#journal = new Journal<AttemptRecord>({
      path: join(stateDir, 'attempts.log'),
      parse: parseRecord,
      apply: (record) => this.#apply(record),
      snapshot: () => this.#snapshot(),
      warn,
      ...room,
    });
  }

  /** In the order they came. */
  get queued(): ReadonlyMap<string, Assigned> {
    return this.#queued;
  }

  /** Started by this process or one before it, and not settled. */
  get started(): ReadonlyMap<string, Assigned> {
    return this.#started;
  }

  has(key: string): boolean {
    return this.#queued.has(key) || this.#started.has(key) || this.#settled.has(key);
  }

  isSettled(key: string): boolean {
    return this.#settled.has(key);
  }

  /** Of these, those of `started` are started in the same moment. */
  async queue(entries: readonly Assigned[], started: readonly string[] = []): Promise<void> {
    if (entries.length === 0) return;
    const queued = entries.map((entry): AttemptRecord => ({ type: 'queued', ...entry }));
    await this.#journal.append(...queued, ...started.map((key): AttemptRecord => ({ type: 'started', key })));
  }

  markStarted(key: string): Promise<void> {
    return this.#journal.append({ type: 'started', key });
  }

  async settle(keys: readonly string[], how: Settlement): Promise<void> {
    if (keys.length > 0) await this.#journal.append(...keys.map((key): AttemptRecord => ({ type: 'settled', key, how })));
  }

  close(): Promise<void> {
    return this.#journal.close();
  }

  #apply(record: AttemptRecord): void {
    switch (record.type) {
      case 'queued':
        this.#queue(record);
        break;
      case 'started':
        this.#start(record.key);
        break;
      case 'settled':
        this.#settle(record.key, record.how);
    }
  }

  #queue({ seq, messageId, assignment }: Assigned): void {
    const key = toKey(assignment);
    if (!this.has(key)) this.#queued.set(key, { seq, messageId, assignment });
  }

  #start(key: string): void {
    const entry = this.#queued.get(key);
    if (entry === undefined) return;
    this.#queued.delete(key);
    this.#started.set(key, entry);
  }

  #settle(key: string, how: Settlement): void {
    this.#queued.delete(key);
    this.#started.delete(key);
    this.#settled.set(key, how);
    if (this.#settled.size <= MAX_SETTLED) return;
    for (const oldest of this.#settled.keys()) {
      this.#settled.delete(oldest);
      break;
    }
  }

  #snapshot(): readonly AttemptRecord[] {
    const queued = ([, entry]: [string, Assigned]): AttemptRecord => ({ type: 'queued', ...entry });
    return [
      ...[...this.#settled].map(([key, how]): AttemptRecord => ({ type: 'settled', key, how })),
      ...[...this.#started].map(queued),
      ...[...this.#started.keys()].map((key): AttemptRecord => ({ type: 'started', key })),
      ...[...this.#queued].map(queued),
    ];
  }
}

const recordType = oneOf('queued', 'started', 'settled');
const startedRecord = object({ key: text });
const settledRecord = object({ key: text, how: oneOf('acked', 'revoked') });

function parseRecord(value: unknown): AttemptRecord {
  const type = recordType(fieldOf(toFields(value, 'record'), 'type'), 'type');
  switch (type) {
    case 'queued':
      return { type, ...assigned(value, 'record') };
    case 'started':
      return { type, ...startedRecord(value, 'record') };
    case 'settled':
      return { type, ...settledRecord(value, 'record') };
  }
}
