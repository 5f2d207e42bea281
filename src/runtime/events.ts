/**
 * Event objects: what happened to which object, repeated ones counted, kept for an hour.
 * The name of an Event is made from what it says, so a repetition finds its first occurrence also after a restart.
 */
import { createHash } from 'node:crypto';
import { type Draft, formatKey, type KindObject, type ObjectKey } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import { type Clock, systemClock, toSeconds } from '#lib/clock.ts';
import { ignoreNotFound, isCode } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import type { EventRecorder } from './controller.ts';

export interface EventObject extends KindObject {
  involvedObject: ObjectKey & { apiVersion: string; uid: string; resourceVersion: string };
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  count: number;
  firstTimestamp: string;
  lastTimestamp: string;
  source: { component: string };
  reportingComponent: string;
  reportingInstance: string;
}

/** Something said once or several times since it was last written. */
interface Said {
  readonly event: Draft<EventObject>;
  readonly key: ObjectKey;
  times: number;
}

export interface EventLogOptions {
  readonly client: Client;
  readonly log: Logger;
  readonly clock?: Clock;
  /** What no message may say is taken out of it. */
  readonly redact?: (message: string) => string;
}

export const EVENT_TTL_MS = 60 * 60 * 1_000;
/** Kubernetes' limit on an Event's message. */
const MAX_MESSAGE = 1_024;
const MAX_NAME = 253;
/** More different events than this at once say no more than these do. */
const MAX_WAITING = 1_000;
const WRITE_TRIES = 5;
/** Written together, they share a write to disk. */
const AT_ONCE = 32;

export class EventLog {
  readonly #client: Client;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #redact: (message: string) => string;
  readonly #waiting = new Map<string, Said>();
  #writing: Promise<void> | undefined;

  constructor({ client, log, clock = systemClock, redact = (message) => message }: EventLogOptions) {
    this.#client = client;
    this.#log = log;
    this.#clock = clock;
    this.#redact = redact;
  }

  recorder(component: string): EventRecorder {
    return {
      normal: (object, reason, message) => this.#record(object, { type: 'Normal', reason, message, component }),
      warning: (object, reason, message) => this.#record(object, { type: 'Warning', reason, message, component }),
    };
  }

  /** Resolves when everything recorded so far has been written or given up. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  #record(object: KindObject, words: Words): void {
    try {
      this.#remember(object, words);
    } catch (error) {
      this.#log.error({ err: error, reason: words.reason }, 'event not recorded');
    }
  }

  #remember(object: KindObject, words: Words): void {
    const event = toEvent(object, { ...words, message: this.#redact(words.message) }, toSeconds(this.#clock.now()));
    const key = { kind: event.kind, namespace: object.metadata.namespace, name: event.metadata.name };
    const said = this.#waiting.get(formatKey(key));
    if (!said && this.#waiting.size >= MAX_WAITING) {
      this.#log.warn({ reason: words.reason, name: object.metadata.name }, 'event dropped, too many are waiting');
      return;
    }
    this.#waiting.set(formatKey(key), { event, key, times: (said?.times ?? 0) + 1 });
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    // A turn later, so that repetitions of this turn become one write.
    await Promise.resolve();
    for (let next = this.#take(); next.length > 0; next = this.#take()) await Promise.all(next.map((said) => this.#write(said)));
    this.#writing = undefined;
  }

  /** Each of them another event: the same one is written once at a time. */
  #take(): Said[] {
    const taken: Said[] = [];
    for (const [id, said] of this.#waiting) {
      if (taken.length === AT_ONCE) break;
      this.#waiting.delete(id);
      taken.push(said);
    }
    return taken;
  }

  /** Never rejects. */
  async #write(said: Said): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#writeOnce(said);
        return;
      } catch (error) {
        const raced = isCode(error, 'Conflict') || isCode(error, 'AlreadyExists') || isCode(error, 'NotFound');
        if (raced && tries < WRITE_TRIES) continue;
        this.#log.warn({ err: error, event: said.key.name }, 'event not written');
        return;
      }
    }
  }

  async #writeOnce({ event, key, times }: Said): Promise<void> {
    const stored = await ignoreNotFound(this.#client.get<EventObject>(key));
    if (!stored) {
      await this.#client.create<EventObject>({ ...event, count: times });
      return;
    }
    const { involvedObject, lastTimestamp } = event;
    const fresh = isExpired(stored, this.#clock.now()) ? { count: times, firstTimestamp: lastTimestamp } : { count: stored.count + times };
    await this.#client.update<EventObject>({ ...stored, ...fresh, involvedObject, lastTimestamp });
  }
}

export function isExpired({ lastTimestamp, metadata }: EventObject, now: Date): boolean {
  return now.getTime() - Date.parse(lastTimestamp ?? metadata.creationTimestamp) > EVENT_TTL_MS;
}

interface Words {
  readonly type: EventObject['type'];
  readonly reason: string;
  readonly message: string;
  readonly component: string;
}

function toEvent(
  { apiVersion, kind, metadata }: KindObject,
  words: Words,
  now: string,
): Draft<EventObject> & { metadata: { name: string } } {
  const { type, reason, component } = words;
  const { name, namespace, uid, resourceVersion } = metadata;
  const message = words.message.slice(0, MAX_MESSAGE);
  const hex = createHash('sha256')
    .update(JSON.stringify([uid, type, reason, message, component]))
    .digest('hex')
    .slice(0, 16);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name.slice(0, MAX_NAME - hex.length - 1)}.${hex}`, namespace },
    involvedObject: { apiVersion, kind, namespace, name, uid, resourceVersion },
    type,
    reason,
    message,
    count: 1,
    firstTimestamp: now,
    lastTimestamp: now,
    source: { component },
    reportingComponent: component,
    reportingInstance: '',
  };
}
