/** Which teams a change of a Team concerns: its descendants, when it changes what they may have, and its parent. */
import { type KindObject, keyOf } from '#api/meta.ts';
import type { Team } from '#api/types.ts';
import type { Key } from '#runtime/controller.ts';

interface SeenTeam {
  readonly key: Key;
  readonly parent: string | undefined;
  /** Of what matters to others; the rest of a Team changes all the time. */
  readonly fingerprint: string;
}

export class Family {
  readonly #seen = new Map<string, SeenTeam>();

  concernedBy(object: KindObject, type: string): Key[] {
    const team = object as Team;
    const key = keyOf(team);
    const name = nameOf(key.namespace, key.name);
    const before = this.#seen.get(name);
    const seen = { key, parent: parentOf(team), fingerprint: fingerprintOf(team) };
    if (type === 'DELETED') this.#seen.delete(name);
    else this.#seen.set(name, seen);
    if (type !== 'DELETED' && before?.fingerprint === seen.fingerprint) return [];
    const parent = seen.parent === undefined ? undefined : this.#seen.get(seen.parent);
    return [...(parent ? [parent.key] : []), ...this.#descendantsOf(name)];
  }

  #descendantsOf(name: string): Key[] {
    const found = new Map<string, Key>();
    const add = (parent: string): void => {
      for (const [child, seen] of this.#seen) {
        if (seen.parent !== parent || found.has(child) || child === name) continue;
        found.set(child, seen.key);
        add(child);
      }
    };
    add(name);
    return [...found.values()];
  }
}

function fingerprintOf({ metadata, spec, status }: Team): string {
  const { tasks: _tasks, ...rest } = spec;
  return JSON.stringify([metadata.uid, metadata.deletionTimestamp, rest, status?.budget]);
}

function parentOf({ metadata, spec }: Team): string | undefined {
  return typeof spec.parent === 'string' ? nameOf(metadata.namespace, spec.parent) : undefined;
}

function nameOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
