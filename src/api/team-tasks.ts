/** The tasks of one team as its documents name them: by short or full name, stored or still to be made from the Team's own list. */
import type { StoredObjects } from './relations.ts';
import type { Task, Team } from './types.ts';

export interface NamedTask {
  /** Full. */
  readonly name: string;
  readonly dependsOn: readonly string[];
}

export class TeamTasks {
  readonly #stored: StoredObjects;
  readonly #namespace: string;
  readonly #team: string;
  #planned: ReadonlyMap<string, NamedTask> | undefined;

  /** `task`: any of the team. */
  constructor(stored: StoredObjects, { metadata, spec }: Pick<Task, 'metadata' | 'spec'>) {
    this.#stored = stored;
    this.#namespace = metadata.namespace;
    this.#team = spec.team;
  }

  /** Undefined when the team has no such task. */
  find(reference: string): NamedTask | undefined {
    const full = `${this.#team}-${reference}`;
    return this.#task(reference) ?? this.#task(full) ?? this.#plan().get(reference) ?? this.#plan().get(full);
  }

  /** By full names, of those that exist. */
  dependenciesOf(name: string): string[] {
    return (this.find(name)?.dependsOn ?? []).flatMap((reference) => this.find(reference)?.name ?? []);
  }

  #task(name: string): NamedTask | undefined {
    const task = this.#stored.get({ kind: 'Task', namespace: this.#namespace, name }) as Task | undefined;
    return task?.spec.team === this.#team ? { name, dependsOn: task.spec.dependsOn ?? [] } : undefined;
  }

  /** Entries of the Team that have not become Tasks yet. */
  #plan(): ReadonlyMap<string, NamedTask> {
    if (this.#planned) return this.#planned;
    const team = this.#stored.get({ kind: 'Team', namespace: this.#namespace, name: this.#team }) as Team | undefined;
    const planned = (team?.spec.tasks ?? []).map(({ name, dependsOn = [] }) => ({ name: `${this.#team}-${name}`, dependsOn }));
    this.#planned = new Map(planned.map((task) => [task.name, task]));
    return this.#planned;
  }
}
