/** The boards of all teams: listed once, then kept by the changes that the runtime passes on. */
import type { KindObject } from '#api/meta.ts';
import type { Task, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Key, Wake } from '#runtime/controller.ts';
import type { GeneratedPath } from '#vault/vault.ts';
import { TeamBoard } from './team-board.ts';

interface Kept {
  readonly board: TeamBoard;
  /** Uids of Tasks that went while they were being listed: the list may still have them. Undefined once it is through. */
  gone: Set<string> | undefined;
  loading: Promise<void>;
}

export class Boards {
  readonly #client: Client;
  readonly #prepare: (board: TeamBoard) => Promise<void>;
  readonly #kept = new Map<string, Kept>();
  readonly #listeners = new Set<(key: Key) => void>();

  /** `prepare` runs once for each board, when its Tasks are known. */
  constructor(client: Client, prepare: (board: TeamBoard) => Promise<void>) {
    this.#client = client;
    this.#prepare = prepare;
  }

  readonly wake: Wake = (enqueue) => {
    this.#listeners.add(enqueue);
    return () => this.#listeners.delete(enqueue);
  };

  async of({ metadata: { namespace, name, uid } }: Team): Promise<TeamBoard> {
    const id = `${namespace}/${name}`;
    let kept = this.#kept.get(id);
    if (kept?.board.uid !== uid) {
      kept = { board: new TeamBoard({ namespace, name, uid }), gone: new Set(), loading: Promise.resolve() };
      this.#kept.set(id, kept);
      kept.loading = this.#load(kept);
    }
    try {
      await kept.loading;
    } catch (error) {
      // Whoever asks next lists anew.
      if (this.#kept.get(id) === kept) this.#kept.delete(id);
      throw error;
    }
    return kept.board;
  }

  onTask(object: KindObject, type: string): Key[] {
    const task = object as Task;
    const { namespace } = task.metadata;
    const { team } = task.spec;
    const kept = this.#kept.get(`${namespace}/${team}`);
    if (!kept) return [];
    if (type === 'DELETED') kept.gone?.add(task.metadata.uid);
    const isNews = type === 'DELETED' ? kept.board.remove(task) : kept.board.put(task);
    return isNews ? [{ kind: 'Team', namespace, name: team }] : [];
  }

  onForeignChange({ namespace, team, path }: GeneratedPath): void {
    const kept = this.#kept.get(`${namespace}/${team}`);
    if (!kept || !path.startsWith('tasks/')) return;
    kept.board.putForeign(path);
    for (const listener of this.#listeners) listener({ kind: 'Team', namespace, name: team });
  }

  forget({ metadata: { namespace, name } }: Team): void {
    this.#kept.delete(`${namespace}/${name}`);
  }

  async #load(kept: Kept): Promise<void> {
    const { board, gone } = kept;
    const query = { namespace: board.namespace, fieldSelector: `spec.team=${board.name}` };
    const { items } = await this.#client.list<Task>('Task', query);
    // What an event told meanwhile is newer.
    for (const task of items) if (!gone?.has(task.metadata.uid) && !board.has(task.metadata.name)) board.put(task);
    kept.gone = undefined;
    await this.#prepare(board);
  }
}
