/** What the snapshot controller needs from the rest of the daemon. */
import type { Agent, Snapshot, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Driver } from '#drivers/driver.ts';
import type { Wake, Watch } from '#runtime/controller.ts';

export interface SnapshotDeps {
  readonly client: Client;
  readonly snapshotting: Snapshotting;
  readonly goldens: Goldens;
}

/** Preparations of golden snapshots, each in a workspace that was made for nothing else and is gone when it is over. */
export interface Goldens {
  /** Begins, or says how it went; undefined while it runs. Rejects with what passes, or with what a person has to mend. */
  prepare(snapshot: Snapshot, team: Team): Promise<Prepared | undefined>;
  /** Whatever there is to end: when it resolves, nothing is under way and nothing of it comes any more. */
  end(snapshot: Snapshot): Promise<void>;
  readonly wake: Wake;
}

export type Prepared =
  | { readonly state: 'kept'; readonly bytes: number; readonly driver: string }
  | { readonly state: 'failed'; readonly command: string; readonly exitCode: number; readonly output: string };

export interface Snapshotting {
  readonly drivers: readonly Driver[];
  /** Agents that snapshots wait for, and forks that keep one from going. */
  readonly watches: readonly Watch[];
  /** Of an agent that runs: what it has committed is brought to safety, what it has written is on its disk. Gives its last commit that is safe. */
  settle(agent: Agent, signal: AbortSignal): Promise<string | undefined>;
  /** What the agent's files are a layer over has to stay for as long as there is the snapshot. */
  keepBase(agent: Agent, snapshot: Snapshot): Promise<void>;
  forgetBase(snapshot: Snapshot): Promise<void>;
}
