/** Every controller and every sweep there is. */
import type { Controller, Sweep } from '#runtime/controller.ts';
import { AGENT_FINALIZER, agentController } from './agent/controller.ts';
import type { AgentDeps } from './agent/deps.ts';
import { type BoardDeps, boardController, VAULT_FINALIZER } from './board/controller.ts';
import { mergeController } from './merge/controller.ts';
import type { MergeDeps } from './merge/deps.ts';
import { MERGE_FINALIZER } from './merge/done.ts';
import { type NamespaceDeps, namespaceController } from './namespace/controller.ts';
import { NETWORK_FINALIZER, type NetworkDeps, networkController } from './network/controller.ts';
import { networkSweep } from './network/sweep.ts';
import { radarController } from './radar/controller.ts';
import type { RadarDeps } from './radar/deps.ts';
import { SNAPSHOT_FINALIZER, snapshotController } from './snapshot/controller.ts';
import type { SnapshotDeps } from './snapshot/deps.ts';
import { TASK_FINALIZER, type TaskDeps, taskController } from './task/controller.ts';
import { TEAM_FINALIZER, type TeamDeps, teamController } from './team/controller.ts';

export type ControllerDeps = TeamDeps &
  AgentDeps &
  TaskDeps &
  NamespaceDeps &
  NetworkDeps &
  BoardDeps &
  MergeDeps &
  RadarDeps &
  SnapshotDeps;

export function allControllers(deps: ControllerDeps): Controller[] {
  return [
    teamController(deps) as Controller,
    networkController(deps) as Controller,
    agentController(deps) as Controller,
    taskController(deps) as Controller,
    boardController(deps) as Controller,
    mergeController(deps) as Controller,
    radarController(deps) as Controller,
    snapshotController(deps) as Controller,
    namespaceController(deps) as Controller,
  ];
}

/**
 * By kind, the finalizers of the controllers above: a new object has them from its first version on. The runtime sees to one that lacks
 * its finalizer all the same, but that is a write of its own, of which every watcher hears.
 */
export const FINALIZERS: Readonly<Record<string, readonly string[]>> = {
  Team: [TEAM_FINALIZER, VAULT_FINALIZER],
  Agent: [AGENT_FINALIZER, NETWORK_FINALIZER],
  Task: [TASK_FINALIZER],
  Merge: [MERGE_FINALIZER],
  Snapshot: [SNAPSHOT_FINALIZER],
};

export function allSweeps(deps: NetworkDeps): Sweep[] {
  return [networkSweep(deps)];
}
