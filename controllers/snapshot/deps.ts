/** What the snapshot controller needs from the rest of the daemon. */
import type { Agent, Snapshot } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Driver } from '#drivers/driver.ts';
import type { Watch } from '#runtime/controller.ts';

export interface SnapshotDeps {
  readonly client: Client;
  readonly snapshotting: Snapshotting;
}

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
