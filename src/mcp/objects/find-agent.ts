/** An agent of a team by its short or full name. */
import { type Agent, shortName } from '#api/types.ts';
import { NotFoundError } from '#lib/errors.ts';
import { nearest } from '#lib/suggest.ts';
import type { ToolCall } from '../tool.ts';
import { agentsOf, getTeam } from './team-view.ts';

export interface AgentOfTeam {
  readonly team: string;
  readonly agent: string;
  readonly namespace?: string;
}

/** Throws NotFound with the name that was probably meant. */
export async function findAgent(call: ToolCall, { team: name, agent, namespace }: AgentOfTeam): Promise<Agent> {
  const team = await getTeam(call, name, namespace);
  const agents = await agentsOf(call, team);
  const found = agents.find(({ metadata }) => metadata.name === agent || shortName(name, metadata.name) === agent);
  if (found) return found;
  const names = agents.map(({ metadata }) => shortName(name, metadata.name));
  const meant = nearest(agent, names);
  throw new NotFoundError(`team ${name} has no agent ${agent}${meant === undefined ? '' : `; did you mean ${meant}?`}`, {
    hint: names.length === 0 ? 'team_status says why it has none' : `its agents: ${names.join(', ')}`,
  });
}
