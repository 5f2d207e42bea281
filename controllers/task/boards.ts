/** The boards of all teams: listed once, then kept by the changes that the runtime passes on. */
import type { KindObject } from '#api/meta.ts';
import type { Agent, Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Key, Wake } from '#runtime/controller.ts';
import { Board, type Woken } from './board.ts';
import { cardOf } from './card.ts';

interface Kept {
  readonly namespace: string;
  readonly board: Board;
  loading: Promise<void> | undefined;
  isLoaded: boolean;
  /** Uids of objects that went while the board was being listed: the list may still have them. */
  readonly gone: Set<string>;
}

export class Boards {
  readonly #client: Client;
  readonly #finalizer: string;
  readonly #kept = new Map<string, Kept>();
  readonly #listeners = new Set<(key: Key) => void>();

  constructor(client: Client, finalizer: string) {
    this.#client = client;
    this.#finalizer = finalizer;
  }

  readonly wake: Wake = (enqueue) => {
    this.#listeners.add(enqueue);
    return () => this.#listeners.delete(enqueue);
  };

  async of(task: Task): Promise<Board> {
    const id = idOf(task);
    let kept = this.#kept.get(id);
    if (!kept) {
      const { namespace } = task.metadata;
      kept = { namespace, board: new Board(task.spec.team), loading: undefined, isLoaded: false, gone: new Set() };
      kept.loading = this.#load(kept, task.spec.team).catch((error: unknown) => {
        // Whoever asks next lists anew.
        this.#kept.delete(id);
        throw error;
      });
      this.#kept.set(id, kept);
    }
    await kept.loading;
    return kept.board;
  }

  onTask(object: KindObject, type: string): Key[] {
    const task = object as Task;
    const kept = this.#kept.get(idOf(task));
    if (!kept) return [];
    if (type === 'DELETED') return this.#keys(kept, this.#drop(kept, task));
    // What the finalizer has let go of may be heard of once more.
    if (task.metadata.deletionTimestamp !== undefined && !kept.board.has(task.metadata.name)) return [];
    return this.#keys(kept, kept.board.put(cardOf(task, this.#finalizer)));
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

  /** For a Task whose finalizer goes. */
  forget(task: Task): void {
    const kept = this.#kept.get(idOf(task));
    if (!kept) return;
    for (const key of this.#keys(kept, this.#drop(kept, task))) for (const listener of this.#listeners) listener(key);
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
    const [agents, tasks] = await Promise.all([this.#client.list<Agent>('Agent', query), this.#client.list<Task>('Task', query)]);
    for (const agent of agents.items) if (!kept.gone.has(agent.metadata.uid)) kept.board.putAgent(agent);
    for (const task of tasks.items) if (!kept.gone.has(task.metadata.uid)) kept.board.put(cardOf(task, this.#finalizer));
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
