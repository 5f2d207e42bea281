/** The contract between a controller and the runtime: a key in, a result out, and what a pass may use. */
import type { KindObject, ObjectKey } from '#api/meta.ts';
import type { Logger } from '#lib/log.ts';

/** What the queue holds: which object, never what happened to it. */
export type Key = ObjectKey;

/** A poll or a deadline. A failure has its own back-off: throw it. */
export interface Result {
  readonly requeueAfterMs?: number;
  /** This pass leaves nothing to the next one: hearing of what it wrote itself brings none. */
  readonly leavesNothing?: boolean;
}

/** Says on an object what happened. Never throws, never waits. */
export interface EventRecorder {
  normal(object: KindObject, reason: string, message: string): void;
  warning(object: KindObject, reason: string, message: string): void;
}

export interface SweepContext {
  readonly log: Logger;
  readonly now: () => Date;
  /** Aborts when the runtime will wait no longer. */
  readonly signal: AbortSignal;
  readonly events: EventRecorder;
}

export interface ReconcileContext extends SweepContext {
  /** One pass over one key; also a field of `log`. */
  readonly reconcileId: string;
}

/** Objects of another kind whose changes concern ours. */
export interface Watch {
  readonly kind: string;
  /** Keys of other kinds than the controller's are dropped. `before`: what was last heard of an object that was there already. */
  toKeys(object: KindObject, type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'SYNC', before?: KindObject): readonly Key[];
  /** Changes within this time become one look: for objects that come in thousands. */
  readonly delayMs?: number;
  /** A look that this watch asks for begins so long after the one before, whoever asked for that: for changes that never end. */
  readonly spacingMs?: number;
}

/** Something outside the API that concerns our objects, such as a process that ended. Returns how to stop listening. */
export type Wake = (enqueue: (key: Key) => void) => () => void;

/** A copy the controller may change, with a status to write into. */
export type WithStatus<T extends KindObject> = T & { status: NonNullable<T['status']> };

export interface Controller<T extends KindObject = KindObject> {
  /** Also its log field and metric label. */
  readonly name: string;
  readonly kind: T['kind'];
  readonly watches?: readonly Watch[];
  readonly wakes?: readonly Wake[];
  /** The runtime persists it before the first reconcile. */
  readonly finalizer?: string;
  /** Keys at the same time; 10 when absent. */
  readonly concurrency?: number;
  /**
   * There is nothing to do for an object that is like this, whatever it was before: hearing of it brings no pass. Deletions and the
   * looks at everything from time to time do all the same.
   */
  isAtRest?(object: T, before: T | undefined): boolean;
  /** A pass that succeeds leaves nothing to the next one: hearing of what it wrote itself brings none. */
  readonly ignoresOwnWrites?: boolean;
  /**
   * The condition that carries what was thrown: Ready when absent, false for kinds without conditions.
   * A pass that succeeds sets it itself, or the failure would stay on the object.
   */
  readonly failureCondition?: string | false;
  /** Make the world match `object.spec`; write what you saw into `object.status`. Safe at any time, any number of times. */
  reconcile(object: WithStatus<T>, ctx: ReconcileContext): Promise<Result>;
  /** Undo everything. 'done' only when nothing is left; the runtime then drops the finalizer. */
  finalize?(object: WithStatus<T>, ctx: ReconcileContext): Promise<Result | 'done'>;
}

/** Work that belongs to no single object. Runs at start and then `everyMs` after it last ended. */
export interface Sweep {
  readonly name: string;
  readonly everyMs: number;
  sweep(ctx: SweepContext): Promise<void>;
}
