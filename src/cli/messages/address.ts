/** Where a message goes or comes from, as people write it: `TEAM`, `TEAM/AGENT`, `TEAM/*`. */

import { shortName } from '#api/types.ts';
import { AgentisoError, NotFoundError } from '#lib/errors.ts';
import { nearest } from '#lib/suggest.ts';
import type { Session } from '../api-command.ts';
import { findNamed, listAll, teamOf } from '../named.ts';
import { UsageError } from '../usage-error.ts';

export interface Address {
  readonly team: string;
  /** Absent: whoever leads the team. */
  readonly agent?: string;
}

/** Pure. */
export function parseAddress(word: string): Address {
  const [team = '', agent, ...rest] = word.replace(/^teams?\//, '').split('/');
  if (team === '' || agent === '' || rest.length > 0) {
    throw new UsageError(`${JSON.stringify(word)} is no address; give TEAM, TEAM/AGENT or 'TEAM/*' for everybody`);
  }
  return agent === undefined ? { team } : { team, agent };
}

/** Names that need no agent behind them. */
const RESERVED = ['lead', 'orchestrator', '*'];

/** The daemon's "not found", with the name that was probably meant. Somebody who wrote an agent's name alone is told how to write it. */
export async function withSuggestion(error: unknown, { team, agent }: Address, session: Session): Promise<unknown> {
  if (!(error instanceof AgentisoError) || error.code !== 'NotFound' || error.message.includes('did you mean')) return error;
  const agents = await listAll(session, 'agent');
  const teams = [...new Set([...(await listAll(session, 'team')).map(({ metadata }) => metadata.name ?? ''), ...agents.map(teamOf)])];
  if (!teams.includes(team)) return unknownTeam(team, teams, session, agents.length > 0 && agent === undefined);
  if (agent === undefined || RESERVED.includes(agent)) return error;
  const members = agents.filter((each) => teamOf(each) === team).map((each) => shortName(team, each.metadata.name ?? ''));
  if (members.includes(shortName(team, agent))) return error;
  const meant = nearest(agent, members);
  const there = members.length === 0 ? 'it has none' : `there is ${members.slice(0, MOST_NAMED).join(', ')}`;
  return new NotFoundError(`there is no agent ${agent} in team ${team}; ${meant ? `did you mean ${team}/${meant}?` : there}`);
}

const MOST_NAMED = 10;

async function unknownTeam(team: string, teams: readonly string[], session: Session, mayBeAgent: boolean): Promise<NotFoundError> {
  const about = `there is no team ${team} in the namespace ${session.namespace}`;
  const found = mayBeAgent ? await findNamed(session, 'agent', team).catch(() => undefined) : undefined;
  if (found) {
    const of = teamOf(found);
    return new NotFoundError(`${about}; did you mean the agent ${of}/${shortName(of, found.metadata.name ?? '')}?`);
  }
  const meant = nearest(team, teams);
  const there = teams.length === 0 ? '' : `; there is ${teams.slice(0, MOST_NAMED).join(', ')}`;
  return new NotFoundError(`${about}${meant ? `; did you mean ${meant}?` : there}`);
}

/** So that a mistyped name does not look like a quiet team. */
export async function checkAddress(address: Address, session: Session): Promise<void> {
  const gone = new AgentisoError('NotFound', '');
  const problem = await withSuggestion(gone, address, session);
  if (problem !== gone) throw problem;
}
