/** Conditions on an object's status: what is so, since when, and as of which generation. */
import type { Condition, KindObject } from '#api/meta.ts';
import { toSeconds } from '#lib/clock.ts';
import { isObject } from '#lib/json.ts';

export interface ConditionInput {
  readonly type: string;
  readonly status: Condition['status'];
  readonly reason: string;
  readonly message: string;
  /** It follows from little of the spec: it is as new as the object's own status.observedGeneration, and most changes leave it as it is. */
  readonly isOfAnyGeneration?: true;
}

export function getCondition(object: KindObject, type: string): Condition | undefined {
  return conditionsOf(object).find((condition) => condition.type === type);
}

export function isTrue(object: KindObject, type: string): boolean {
  return getCondition(object, type)?.status === 'True';
}

/** Changes `object` in place. `lastTransitionTime` moves only when `status` moves. */
export function setCondition(object: KindObject, input: ConditionInput, now: Date): void {
  const { type, status, reason, message, isOfAnyGeneration } = input;
  const conditions = conditionsOf(object);
  const before = conditions.find((condition) => condition.type === type);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : toSeconds(now);
  const seen = isOfAnyGeneration ? {} : { observedGeneration: object.metadata.generation };
  const next: Condition = { type, status, reason, message, lastTransitionTime, ...seen };
  const others = conditions.map((condition) => (condition.type === type ? next : condition));
  object.status = { ...(isObject(object.status) ? object.status : {}), conditions: before ? others : [...conditions, next] };
}

function conditionsOf({ status }: KindObject): readonly Condition[] {
  const conditions = isObject(status) ? status['conditions'] : undefined;
  return Array.isArray(conditions) ? conditions : [];
}
