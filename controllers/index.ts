/** Every controller and every sweep there is. */
import type { Controller, Sweep } from '#runtime/controller.ts';
import { agentController } from './agent/controller.ts';
import type { AgentDeps } from './agent/deps.ts';
import { type BoardDeps, boardController } from './board/controller.ts';
import { mergeController } from './merge/controller.ts';
import type { MergeDeps } from './merge/deps.ts';
import { type NamespaceDeps, namespaceController } from './namespace/controller.ts';
import { type NetworkDeps, networkController } from './network/controller.ts';
import { networkSweep } from './network/sweep.ts';
import { radarController } from './radar/controller.ts';
import type { RadarDeps } from './radar/deps.ts';
import { snapshotController } from './snapshot/controller.ts';
import type { SnapshotDeps } from './snapshot/deps.ts';
import { type TaskDeps, taskController } from './task/controller.ts';
import { type TeamDeps, teamController } from './team/controller.ts';

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

export function allSweeps(deps: NetworkDeps): Sweep[] {
  return [networkSweep(deps)];
}
