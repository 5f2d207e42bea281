/**
 * Whom a change of a merge concerns: itself, and those of its team that wait for their turn or are on their way. What they look at is told apart from
 * what they do not, or with n merges each change would wake n others.
 */
import type { Merge } from '#api/types.ts';
import type { Key } from '#runtime/controller.ts';
import { isDone } from './done.ts';
import { isWaiting, meets } from './queue.ts';

interface Mates {
  /** By uid. */
  readonly all: Map<string, Merge>;
  /** Those of them that wait for their turn or are on their way. */
  readonly inLine: Map<string, Merge>;
}

export class Neighbours {
  readonly #teams = new Map<string, Mates>();

  concernedBy(merge: Merge, isDeleted: boolean): Key[] {
    const { uid } = merge.metadata;
    const { all, inLine } = this.#matesOf(merge);
    const before = all.get(uid);
    const after = isDeleted ? undefined : merge;
    inLine.delete(uid);
    // Itself unless it is done: what it has just written may be from before a change of another.
    const keys = [...(after && isDone(after) ? [] : [keyOf(merge)]), ...wokenBy({ before, after }, inLine).map(keyOf)];
    if (after && isInLine(after)) inLine.set(uid, after);
    if (after && after.status?.phase !== 'Merged') all.set(uid, after);
    else all.delete(uid);
    if (all.size === 0) this.#teams.delete(teamOf(merge));
    return keys;
  }

  filter(concerns: (merge: Merge) => boolean): Key[] {
    return [...this.#teams.values()].flatMap(({ all }) => [...all.values()].filter(concerns).map(keyOf));
  }

  #matesOf(merge: Merge): Mates {
    const team = teamOf(merge);
    const mates = this.#teams.get(team) ?? { all: new Map(), inLine: new Map() };
    this.#teams.set(team, mates);
    return mates;
  }
}

interface Change {
  readonly before: Merge | undefined;
  readonly after: Merge | undefined;
}

function wokenBy({ before, after }: Change, inLine: ReadonlyMap<string, Merge>): Merge[] {
  const was = standing(before);
  if (inLine.size === 0 || was === standing(after)) return [];
  const others = [...inLine.values()];
  // Who is new goes behind the others, but for those whose work it brings.
  const isLast = was === OUT && after !== undefined && !others.some((other) => meets(after, other));
  return isLast ? [] : others;
}

const OUT = 'out';

/** What others look at. */
function standing(merge: Merge | undefined): string {
  if (merge === undefined || !isWaiting(merge)) return OUT;
  const { status, metadata } = merge;
  return `${metadata.generation} ${status?.phase === 'Merging' ? JSON.stringify(status) : ''}`;
}

/** One that is Pending has not looked at the others yet. */
function isInLine(merge: Merge): boolean {
  return isWaiting(merge) && (merge.status?.phase === 'Queued' || merge.status?.phase === 'Merging');
}

function teamOf({ metadata, spec }: Merge): string {
  return `${metadata.namespace}/${spec.team}`;
}

function keyOf({ kind, metadata: { namespace, name } }: Merge): Key {
  return { kind, namespace, name };
}
