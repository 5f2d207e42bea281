/** Every controller and every sweep there is. */
import type { Controller, Sweep } from '#runtime/controller.ts';
import { agentController } from './agent/controller.ts';
import type { AgentDeps } from './agent/deps.ts';
import { type NamespaceDeps, namespaceController } from './namespace/controller.ts';
import { type NetworkDeps, networkController } from './network/controller.ts';
import { networkSweep } from './network/sweep.ts';
import { type TaskDeps, taskController } from './task/controller.ts';
import { type TeamDeps, teamController } from './team/controller.ts';

export type ControllerDeps = TeamDeps & AgentDeps & TaskDeps & NamespaceDeps & NetworkDeps;

export function allControllers(deps: ControllerDeps): Controller[] {
  return [
    teamController(deps) as Controller,
    networkController(deps) as Controller,
    agentController(deps) as Controller,
    taskController(deps) as Controller,
    namespaceController(deps) as Controller,
  ];
}

export function allSweeps(deps: NetworkDeps): Sweep[] {
  return [networkSweep(deps)];
}
