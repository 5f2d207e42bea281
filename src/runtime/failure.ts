/** What a controller threw, made visible on its object: a condition, and an event when it is news. */
import type { Condition, KindObject } from '#api/meta.ts';
import { AgentisoError, messageOf, WaitingError } from '#lib/errors.ts';
import { getCondition, setCondition } from './conditions.ts';
import type { Controller, ReconcileContext } from './controller.ts';

export interface Failure {
  readonly controller: Controller;
  /** As it was before the pass. */
  readonly object: KindObject;
  /** As the controller left it. */
  readonly copy: KindObject;
  readonly error: unknown;
  readonly ctx: ReconcileContext;
}

/** The limit Kubernetes sets on a condition's message. */
const MAX_MESSAGE = 32_768;

export function reportFailure({ controller, object, copy, error, ctx }: Failure): void {
  // A pass that was cut short by the stop of this process says nothing about the object.
  if (ctx.signal.aborted) return;
  const { reason, message } = describeFailure(error);
  const type = controller.failureCondition ?? 'Ready';
  const known = type === false ? undefined : getCondition(object, type);
  if (type !== false) setCondition(copy, { type, status: 'False', reason, message }, ctx.now());
  if (error instanceof WaitingError || isSaid(known, reason, message)) return;
  ctx.events.warning(object, reason, message);
}

export function describeFailure(error: unknown): { reason: string; message: string } {
  const reason = error instanceof AgentisoError ? error.reason : 'ReconcileFailed';
  return { reason, message: messageOf(error).slice(0, MAX_MESSAGE) };
}

function isSaid(known: Condition | undefined, reason: string, message: string): boolean {
  return known?.status === 'False' && known.reason === reason && known.message === message;
}
