/**
 * Follows manifest directories: what they declare is applied, what they stop declaring is pruned, and they are never written to.
 * Level-based: every hint, from a file, an object or the clock, makes the same look at everything; unchanged files cost a stat.
 */
import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { kinds } from '#api/kinds.ts';
import { formatKey, type KindObject, keyOf } from '#api/meta.ts';
import type { Client, WatchEvent } from '#client/client.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import type { Logger } from '#lib/log.ts';
import { type Applied, applyInMs, isAppliedBy } from './applied.ts';
import { carryOut } from './carry-out.ts';
import { Complaints } from './complaints.ts';
import { directoriesOf, type ManifestDirectory } from './directory.ts';
import { type Declaration, type DirectoryRead, DirectoryReader } from './directory-reader.ts';
import { FolderWatches } from './folder-watches.ts';
import { watchObjects } from './object-watch.ts';
import { planChanges } from './plan.ts';
import type { EventRecorder, Problem } from './problem.ts';
import { Soon } from './soon.ts';

export interface FollowOptions {
  /** Paths, as a person gave them; checked before. */
  readonly directories: readonly string[];
  readonly client: Client;
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly clock?: Clock;
  /** How often everything is looked at without a hint; 30 s when absent. */
  readonly relistMs?: number;
}

export interface FollowedManifests {
  /** Resolves when everything there was at the start has been applied or complained about. */
  readonly ready: Promise<void>;
  /** Resolves when nothing more will be done. */
  stop(): Promise<void>;
}

const QUIET_MS = 50;
const PATIENCE_MS = 300;
const RELIST_MS = 30_000;
const RETRY_MS = 1_000;

export function followManifests(options: FollowOptions): FollowedManifests {
  if (options.directories.length === 0) return { ready: Promise.resolve(), stop: async () => {} };
  const follower = new Follower(options);
  return { ready: follower.start(), stop: () => follower.stop() };
}

const declarable = kinds.filter(({ crd }) => crd).map(({ kind }) => kind);

class Follower {
  readonly #options: FollowOptions;
  readonly #directories: readonly ManifestDirectory[];
  readonly #clock: Clock;
  readonly #readers: readonly DirectoryReader[];
  readonly #complaints: Complaints;
  readonly #folders: FolderWatches;
  readonly #soon: Soon;
  readonly #stopping = new AbortController();
  readonly #applied = new Map<string, Applied>();
  #declared: ReadonlyMap<string, Declaration> = new Map();
  #missingSinceMs: ReadonlyMap<string, number> = new Map();
  #watching: Promise<unknown> = Promise.resolve();
  #onFirstLook = () => {};

  constructor(options: FollowOptions) {
    const { events, log, clock = systemClock } = options;
    this.#directories = directoriesOf(options.directories);
    this.#options = options;
    this.#clock = clock;
    this.#soon = new Soon({ work: () => this.#look(), quietMs: QUIET_MS, patienceMs: PATIENCE_MS });
    this.#folders = new FolderWatches(() => this.#soon.hint(), log);
    const onFolder = (path: string, identity: string) => this.#folders.keep(path, identity);
    this.#readers = this.#directories.map((directory) => new DirectoryReader({ directory, onFolder, clock }));
    this.#complaints = new Complaints({ events, log, clock });
  }

  start(): Promise<void> {
    const { client, log } = this.#options;
    const hints = { onEvent: (event: WatchEvent<KindObject>) => this.#onEvent(event), onGap: () => this.#soon.hint() };
    this.#watching = Promise.all(declarable.map((kind) => watchObjects(kind, { client, log, signal: this.#stopping.signal, ...hints })));
    this.#soon.within(0);
    return new Promise((resolve) => {
      this.#onFirstLook = resolve;
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#soon.stop();
    this.#onFirstLook();
    this.#folders.close();
    await this.#watching;
  }

  async #look(): Promise<void> {
    this.#soon.within(this.#options.relistMs ?? RELIST_MS);
    try {
      this.#watchRoots();
      const reads = await Promise.all(this.#readers.map((reader) => reader.read()));
      this.#folders.forget();
      await this.#act(reads);
    } catch (error) {
      this.#options.log.error({ err: error }, 'manifests not followed this time, tried again');
      this.#soon.within(RETRY_MS);
    }
    this.#onFirstLook();
  }

  async #act(reads: readonly DirectoryRead[]): Promise<void> {
    const live = await this.#live(reads);
    if (this.#stopping.signal.aborted) return;
    const closing = await this.#closing();
    const plan = planChanges({ reads, live, closing, applied: this.#applied, missingSinceMs: this.#missingSinceMs, nowMs: this.#nowMs() });
    this.#declared = plan.declared;
    this.#missingSinceMs = plan.missingSinceMs;
    const { client, events, log } = this.#options;
    const problems = await carryOut(plan, { client, events, log, live, applied: this.#applied, nowMs: () => this.#nowMs() });
    this.#complaints.tell([...plan.problems, ...this.#refusals(), ...problems], (key) => live.get(formatKey(key)));
    if (problems.length > 0) this.#soon.within(RETRY_MS);
    if (Number.isFinite(plan.lookAgainMs)) this.#soon.within(plan.lookAgainMs);
  }

  /** Declared objects, and those that a directory applied once: what it applied is recorded nowhere but in them. */
  async #live(reads: readonly DirectoryRead[]): Promise<Map<string, KindObject>> {
    const declared = new Set(reads.flatMap(({ declarations }) => declarations.map(({ id }) => id)));
    const managers = this.#directories.map(({ fieldManager }) => fieldManager);
    const live = new Map<string, KindObject>();
    for (const kind of declarable) {
      for (const object of (await this.#options.client.list<KindObject>(kind)).items) {
        const id = formatKey(keyOf(object));
        if (declared.has(id) || managers.some((manager) => isAppliedBy(object, manager))) live.set(id, object);
      }
    }
    return live;
  }

  async #closing(): Promise<Set<string>> {
    const { items } = await this.#options.client.list<KindObject>('Namespace');
    return new Set(items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).map(({ metadata }) => metadata.name));
  }

  #refusals(): Problem[] {
    const problems: Problem[] = [];
    for (const { failure } of this.#applied.values()) {
      if (!failure) continue;
      problems.push(failure.problem);
      this.#soon.within(failure.retryMs);
    }
    return problems;
  }

  /** Where a directory comes and goes, or a link in its place is turned to the next revision. */
  #watchRoots(): void {
    for (const { path } of this.#directories) {
      const stats = statSync(dirname(path), { throwIfNoEntry: false });
      if (stats) this.#folders.keepFor(basename(path), dirname(path), `${stats.dev}-${stats.ino}`);
    }
  }

  #onEvent({ type, object }: WatchEvent<KindObject>): void {
    const id = formatKey(keyOf(object));
    const declaration = this.#declared.get(id);
    if (!declaration) return;
    const live = type === 'DELETED' ? undefined : object;
    const inMs = applyInMs(declaration, live, { applied: this.#applied.get(id), nowMs: this.#nowMs() });
    if (inMs === 0) this.#soon.hint();
    else if (inMs !== undefined) this.#soon.within(inMs);
  }

  #nowMs(): number {
    return this.#clock.now().getTime();
  }
}
