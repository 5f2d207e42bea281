/** Every controller there is. */
import type { Controller } from '#runtime/controller.ts';
import { type AgentDeps, agentController } from './agent/controller.ts';
import { type NamespaceDeps, namespaceController } from './namespace/controller.ts';
import { type TaskDeps, taskController } from './task/controller.ts';
import { type TeamDeps, teamController } from './team/controller.ts';

export type ControllerDeps = TeamDeps & AgentDeps & TaskDeps & NamespaceDeps;

export function allControllers(deps: ControllerDeps): Controller[] {
  return [
    teamController(deps) as Controller,
    agentController(deps) as Controller,
    taskController(deps) as Controller,
    namespaceController(deps) as Controller,
  ];
}
