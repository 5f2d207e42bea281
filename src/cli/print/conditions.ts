/** status.conditions as a table: one line each, which is how people read them. */
import { ageOf } from '#lib/age.ts';
import { toCell } from '#lib/escape.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { listing } from './listing.ts';

export function isConditions(key: string, value: unknown): value is readonly JsonObject[] {
  const isCondition = (item: unknown) => isObject(item) && typeof item['type'] === 'string' && typeof item['status'] === 'string';
  return key === 'conditions' && Array.isArray(value) && value.length > 0 && value.every(isCondition);
}

export function conditionLines(conditions: readonly JsonObject[], { indent, now }: { indent: string; now: Date }): string[] {
  const rows = conditions.map(({ type, status, reason, message, lastTransitionTime }) => {
    const age = typeof lastTransitionTime === 'string' ? ageOf(lastTransitionTime, now) : '';
    return [type, status, reason, age, message].map(toCell);
  });
  return listing(['Type', 'Status', 'Reason', 'Age', 'Message'], rows, indent);
}
