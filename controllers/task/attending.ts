/** What it takes to follow a Task that an agent holds. */
import type { Agent, Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound } from '#lib/errors.ts';
import type { ReconcileContext } from '#runtime/controller.ts';
import type { Attempts } from './attempts.ts';
import type { Boards } from './boards.ts';
import type { Budgets } from './budgets.ts';
import type { Leases } from './leases.ts';
import type { PromptRuns } from './prompt-runs.ts';
import type { Teller } from './tell.ts';
import type { Verifier } from './verifier.ts';

export interface Attending {
  readonly client: Client;
  readonly attempts: Attempts;
  readonly boards: Boards;
  readonly budgets: Budgets;
  readonly teller: Teller;
  readonly verifier: Verifier | undefined;
  readonly leases: Leases;
  readonly runs: PromptRuns;
  /** Outcomes that this process has put into a status. */
  readonly recorded: Set<string>;
  /** Task uid → the agent that got nowhere with it. */
  readonly avoided: Map<string, string>;
  readonly monotonicMs: () => number;
  readonly stuckFloorMs: number;
  readonly quickMs: number;
}

/** For one pass. */
export interface Means {
  readonly deps: Attending;
  readonly ctx: ReconcileContext;
}

/** Until an attempt that is to end has ended; also until an outcome that could not be acknowledged is. */
export const RETRY_MS = 1_000;
/** How often heartbeats are asked about: a lease must be known to be fresh when they stop. */
export const LOOK_MS = 10_000;

export function ownerOf({ metadata, status }: Task, client: Client): Promise<Agent | undefined> {
  return ignoreNotFound(client.get<Agent>({ kind: 'Agent', namespace: metadata.namespace, name: status?.owner ?? '' }));
}

export function attemptOf({ metadata, status }: Task): string {
  return `${metadata.uid}/${status?.attempt ?? 0}`;
}
