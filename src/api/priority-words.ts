/** Words for priorities in manifests, as people say them. The schema knows numbers only, so they are turned into those before anybody looks. Pure. */
import { isObject, type JsonObject } from '#lib/json.ts';
import { GROUP } from './meta.ts';

const PRIORITIES: ReadonlyMap<unknown, number> = new Map([
  ['critical', 1],
  ['high', 2],
  ['medium', 3],
  ['low', 4],
]);

/** The number that is meant by a word; anything else as it is. */
export function priorityOf(word: unknown): unknown {
  return PRIORITIES.get(word) ?? word;
}

/** A document of ours with numbers for words; every other one as it is. */
export function withPriorities(document: JsonObject): JsonObject {
  const { apiVersion, kind, spec, items } = document;
  if (Array.isArray(items)) return { ...document, items: items.map((item) => (isObject(item) ? withPriorities(item) : item)) };
  if (typeof apiVersion !== 'string' || !apiVersion.startsWith(`${GROUP}/`) || !isObject(spec)) return document;
  if (kind === 'Task') return { ...document, spec: inNumbers(spec) };
  const { tasks } = spec;
  if (kind !== 'Team' || !Array.isArray(tasks)) return document;
  return { ...document, spec: { ...spec, tasks: tasks.map((task) => (isObject(task) ? inNumbers(task) : task)) } };
}

function inNumbers(spec: JsonObject): JsonObject {
  return PRIORITIES.has(spec['priority']) ? { ...spec, priority: priorityOf(spec['priority']) } : spec;
}
