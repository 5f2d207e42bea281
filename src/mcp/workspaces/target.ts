/** Whose workspace is meant: by team and name in the team, as people and models say it. */
import { DEFAULT_NAMESPACE } from '#api/meta.ts';
import { type Agent, shortName } from '#api/types.ts';
import { AgentisoError, ignoreNotFound, NotFoundError } from '#lib/errors.ts';
import { described } from '#protocol/shape.ts';
import type { Caller, ToolCall } from '../tool.ts';
import type { WorkspaceReference } from '../workspace-io.ts';
import { nameText } from './fields.ts';

export const targetFields = {
  team: described(nameText, 'Name of the team.'),
  agent: described(nameText, 'Name of the agent in its team, such as coder-1. team_status lists them.'),
};

export const targetOptions = { namespace: described(nameText, `Namespace of the team. Default ${DEFAULT_NAMESPACE}.`) };

export interface Target {
  readonly team: string;
  readonly agent: string;
  readonly namespace?: string;
}

/** Everything that reaches into a workspace comes through here. */
export async function findWorkspace({ team, agent, namespace = DEFAULT_NAMESPACE }: Target, call: ToolCall): Promise<WorkspaceReference> {
  checkAdmin(call.caller);
  for (const name of [`${team}-${agent}`, agent]) {
    const found = await ignoreNotFound(call.client.get<Agent>({ kind: 'Agent', namespace, name }));
    if (found?.spec.team === team) return { namespace, agent: name };
  }
  throw await notThere({ team, agent, namespace }, call);
}

/** As exec is in the API, also for tools that only read. */
export function checkAdmin({ role }: Caller): void {
  if (role === 'admin') return;
  throw new AgentisoError('Forbidden', 'what is in workspaces is for admins', { hint: 'connect with the token of an admin' });
}

/** The agents of a team, by their names. */
export async function teamAgents(team: string, namespace: string, { client }: Pick<ToolCall, 'client'>): Promise<readonly string[]> {
  const { items } = await client.list<Agent>('Agent', { namespace, fieldSelector: `spec.team=${team}` });
  return items.map(({ metadata }) => metadata.name);
}

/** For the log of calls. */
export function agentResource({ team, agent }: Target): string {
  return `agent/${team}-${shortName(team, agent)}`;
}

const MAX_NAMED = 20;

async function notThere({ team, agent, namespace }: Required<Target>, call: ToolCall): Promise<NotFoundError> {
  const names = (await teamAgents(team, namespace, call)).map((name) => shortName(team, name));
  if (names.length === 0) {
    const hint = 'team_list lists the teams; give namespace for one that is not in default';
    return new NotFoundError(`there is no team ${team} with agents in namespace ${namespace}`, { hint });
  }
  const shown = names.slice(0, MAX_NAMED).join(', ');
  const hint = `there is ${shown}${names.length > MAX_NAMED ? ' and more: team_status lists them' : ''}`;
  return new NotFoundError(`team ${team} has no agent ${agent}`, { hint });
}
