/** The boards of all teams: listed once, then kept by the changes that the runtime passes on. */
import type { KindObject } from '#api/meta.ts';
import type { Agent, Task, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound } from '#lib/errors.ts';
import type { Key, Wake } from '#runtime/controller.ts';
import { Board, type Woken } from './board.ts';
import { cardOf } from './card.ts';
import { lastNumberOf } from './numbered.ts';

export const TASK_FINALIZER = 'agentiso.dev/attempt';

interface Kept {
  readonly namespace: string;
  readonly board: Board;
  loading: Promise<void> | undefined;
  isLoaded: boolean;
  /** Uids of objects that went while the board was being listed: the list may still have them. */
  readonly gone: Set<string>;
}

/** One for the controller and for the book: whoever takes a place of an agent must see what the other takes. */
export function taskBoards(client: Client): Boards {
  return new Boards(client);
}

export class Boards {
  readonly #client: Client;
  readonly #kept = new Map<string, Kept>();
  readonly #listeners = new Set<(key: Key) => void>();

  constructor(client: Client) {
    this.#client = client;
  }

  readonly wake: Wake = (enqueue) => {
    this.#listeners.add(enqueue);
    return () => this.#listeners.delete(enqueue);
  };

  async of({ metadata, spec }: Task): Promise<Board> {
    return this.ofTeam(metadata.namespace, spec.team);
  }

  async ofTeam(namespace: string, team: string): Promise<Board> {
    const id = `${namespace}/${team}`;
    let kept = this.#kept.get(id);
    if (!kept) {
      kept = { namespace, board: new Board(team), loading: undefined, isLoaded: false, gone: new Set() };
      kept.loading = this.#load(kept, team).catch((error: unknown) => {
        // Whoever asks next lists anew.
        this.#kept.delete(id);
        throw error;
      });
      this.#kept.set(id, kept);
    }
    await kept.loading;
    return kept.board;
  }

  /** The board as far as it is known by now. */
  known(namespace: string, team: string): Board | undefined {
    return this.#kept.get(`${namespace}/${team}`)?.board;
  }

  onTask(object: KindObject, type: string): Key[] {
    const task = object as Task;
    const kept = this.#kept.get(idOf(task));
    if (!kept) return [];
    if (type === 'DELETED') return this.#keys(kept, this.#drop(kept, task));
    // What the finalizer has let go of may be heard of once more.
    if (task.metadata.deletionTimestamp !== undefined && !kept.board.has(task.metadata.name)) return [];
    return this.#keys(kept, kept.board.put(cardOf(task, TASK_FINALIZER)));
  }

  onAgent(object: KindObject, type: string): Key[] {
    const agent = object as Agent;
    const kept = this.#kept.get(idOf(agent));
    if (!kept) return [];
    if (type !== 'DELETED') return this.#keys(kept, kept.board.putAgent(agent));
    if (!kept.isLoaded) kept.gone.add(agent.metadata.uid);
    const keys = this.#keys(kept, kept.board.removeAgent(agent.metadata.name, agent.metadata.uid));
    this.#tidy(agent, kept);
    return keys;
  }

  /** A team that is gone has no limit; its tasks wait for an agent. */
  onTeam(object: KindObject, type: string): Key[] {
    const { metadata, spec } = object as Team;
    const kept = this.#kept.get(`${metadata.namespace}/${metadata.name}`);
    return kept ? this.#keys(kept, kept.board.limitTo(type === 'DELETED' ? undefined : spec.maxParallelTasks)) : [];
  }

  /** What the book has stored: the next decision counts it, whenever the watch brings it. */
  stored(task: Task): void {
    this.#tell(this.onTask(task, 'MODIFIED'));
  }

  /** The controller should look at a task for a reason that no change tells it. */
  poke({ metadata: { namespace, name } }: Task): void {
    this.#tell([{ kind: 'Task', namespace, name }]);
  }

  /** For a Task whose finalizer goes. */
  forget(task: Task): void {
    const kept = this.#kept.get(idOf(task));
    if (kept) this.#tell(this.#keys(kept, this.#drop(kept, task)));
  }

  #tell(keys: readonly Key[]): void {
    for (const key of keys) for (const listener of this.#listeners) listener(key);
  }

  #drop(kept: Kept, task: Task): Woken {
    if (!kept.isLoaded) kept.gone.add(task.metadata.uid);
    const woken = kept.board.remove(task.metadata.name, task.metadata.uid);
    this.#tidy(task, kept);
    return woken;
  }

  /** A team that is gone leaves nothing behind. */
  #tidy(object: Agent | Task, { board, isLoaded }: Kept): void {
    if (isLoaded && board.isEmpty) this.#kept.delete(idOf(object));
  }

  async #load(kept: Kept, team: string): Promise<void> {
    const query = { namespace: kept.namespace, fieldSelector: `spec.team=${team}` };
    const [agents, tasks, owner] = await Promise.all([
      this.#client.list<Agent>('Agent', query),
      this.#client.list<Task>('Task', query),
      ignoreNotFound(this.#client.get<Team>({ kind: 'Team', namespace: kept.namespace, name: team })),
    ]);
    kept.board.highestNumber = lastNumberOf(owner);
    kept.board.limitTo(owner?.spec.maxParallelTasks);
    for (const agent of agents.items) if (!kept.gone.has(agent.metadata.uid)) kept.board.putAgent(agent);
    for (const task of tasks.items) if (!kept.gone.has(task.metadata.uid)) kept.board.put(cardOf(task, TASK_FINALIZER));
    kept.isLoaded = true;
    kept.gone.clear();
  }

  #keys({ namespace }: Kept, woken: Woken): Key[] {
    return [...woken].map((name) => ({ kind: 'Task', namespace, name }));
  }
}

function idOf({ metadata, spec }: Agent | Task): string {
  return `${metadata.namespace}/${spec.team}`;
}
