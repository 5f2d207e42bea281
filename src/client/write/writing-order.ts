/** The order in which a set is written: a team after its parent, what belongs to a team after the team, a task after what it waits for. Pure. */
import { GROUP } from '#api/meta.ts';
import { inOrderOfNeed } from '#api/task-graph.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import type { ApplyItem } from './apply-set.ts';

type Placed = Pick<ApplyItem, 'target' | 'config'>;

/** Otherwise as they stand in the files. */
export function inOrderOfWriting<T extends Placed>(items: readonly T[]): T[] {
  const byId = new Map(items.map((item) => [idOf(item, String(item.config['kind']), item.target.name), item]));
  return inOrderOfNeed(items, (item) => needsOf(item).flatMap((id) => byId.get(id) ?? []));
}

function needsOf(item: Placed): string[] {
  const { apiVersion, kind, spec } = item.config;
  if (!String(apiVersion).startsWith(`${GROUP}/`) || !isObject(spec)) return [];
  if (kind === 'Team') return [idOf(item, 'Team', String(spec['parent']))];
  const team = String(spec['team']);
  const tasks = kind === 'Task' ? dependenciesOf(spec).flatMap((name) => [name, `${team}-${name}`]) : [];
  return [idOf(item, 'Team', team), ...tasks.map((name) => idOf(item, 'Task', name))];
}

export function dependenciesOf({ dependsOn }: JsonObject): string[] {
  return Array.isArray(dependsOn) ? dependsOn.filter((name) => typeof name === 'string') : [];
}

function idOf({ target, config }: Placed, kind: string, name: string): string {
  return `${config['apiVersion']} ${kind} ${target.namespace ?? ''}/${name}`;
}
