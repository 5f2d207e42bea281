/** Names, times and conditions in words. Pure. */
import type { Condition, KindObject } from '#api/meta.ts';
import { humanDuration } from '#lib/age.ts';
import { isObject } from '#lib/json.ts';

export function idOf({ kind, metadata }: Pick<KindObject, 'kind' | 'metadata'>): string {
  return `${kind.toLowerCase()}/${metadata.name}`;
}

/** `a`, `a and b`, `a, b and 3 others`. */
export function listed(words: readonly string[], most = 3): string {
  if (words.length <= 1) return words.join('');
  if (words.length > most) return `${words.slice(0, most - 1).join(', ')} and ${words.length - most + 1} others`;
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

export function conditionOf({ status }: KindObject, type: string): Condition | undefined {
  const conditions = isObject(status) && Array.isArray(status['conditions']) ? (status['conditions'] as readonly Condition[]) : [];
  return conditions.find((condition) => condition.type === type);
}

/** Nobody has written a status yet. */
export function isBlank({ status }: KindObject): boolean {
  return !isObject(status) || Object.keys(status).length === 0;
}

/** The condition's own words. */
export function wordsOf({ reason = '', message = '' }: Partial<Condition>): string {
  return [reason, message].filter((word) => word !== '').join(': ');
}

export function since(time: string | null | undefined, now: Date): string {
  return time ? `since ${humanDuration(Math.max(0, now.getTime() - Date.parse(time)))}` : 'for a moment';
}

/** `3 s`, of what is still to come; `a moment` for what is due. */
export function timeLeft(ms: number): string {
  return ms > 0 ? `${Math.ceil(ms / 1_000)} s` : 'a moment';
}

/** What a program said last. */
export function lastLine(text: string | undefined): string {
  const lines = (text ?? '').split('\n').map((line) => line.trim());
  return (lines.filter((line) => line !== '').at(-1) ?? '').slice(0, MOST_WORDS);
}

const MOST_WORDS = 200;

export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** What the status says is about the spec as it is now. */
export function isUpToDate(object: KindObject): boolean {
  const status = isObject(object.status) ? object.status : {};
  const seen = Math.max(conditionOf(object, 'Ready')?.observedGeneration ?? 0, Number(status['observedGeneration'] ?? 0));
  return seen === 0 || object.metadata.generation === undefined || seen === object.metadata.generation;
}
