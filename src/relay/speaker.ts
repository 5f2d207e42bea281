/** Who speaks, as the rules of the post see it. */
import type { Agent } from '#api/types.ts';
import { AgentisoError } from '#lib/errors.ts';
import type { Saying } from './matrix.ts';
import type { Letter } from './post.ts';
import { LEAD, nameOf, type Principal } from './principal.ts';
import { type Inbox, inboxOf, type Roster, type TeamName } from './roster.ts';

export interface Speaker {
  readonly by: Saying['by'];
  /** As it stands in `from` inside its own team. */
  readonly name: string;
  /** The own team; for people the one they write to. */
  readonly place: TeamName;
  /** Absent for people and the system. */
  readonly inbox?: Inbox;
  readonly incarnation?: string;
}

export interface SpeakerDeps {
  readonly agentByUid: (uid: string) => Agent | undefined;
  /** The run of an agent that the daemon is connected to; that of its status when absent. */
  readonly incarnationOf?: (uid: string) => string | undefined;
}

/** Throws FenceLost for an agent that is gone, or whose run is not the present one. */
export function speakerOf(principal: Principal, { namespace, team }: Pick<Letter, 'namespace' | 'team'>, deps: SpeakerDeps): Speaker {
  const name = nameOf(principal);
  if (principal.kind !== 'agent') return { by: principal.kind, name, place: { namespace, team } };
  const agent = presentAgent(principal, deps);
  const { incarnation } = principal;
  return {
    by: name === LEAD ? 'lead' : 'agent',
    name,
    // By the connection, whatever the letter says.
    place: { namespace: agent.metadata.namespace, team: agent.spec.team },
    inbox: inboxOf(agent),
    ...(incarnation !== '' && { incarnation }),
  };
}

export function presentAgent({ agent, incarnation }: Principal & { readonly kind: 'agent' }, deps: SpeakerDeps): Agent {
  const { uid } = agent.metadata;
  const present = deps.agentByUid(uid);
  if (!present) throw new AgentisoError('FenceLost', 'this agent no longer exists');
  const running = deps.incarnationOf?.(uid) ?? present.status?.incarnation;
  if (running === undefined || running === incarnation) return present;
  throw new AgentisoError('FenceLost', `this run of agent ${agent.metadata.name} is over; another one has begun`);
}

/** Whoever the speaker answers to: the lead of its team; for the lead itself, the people. */
export function leadFor({ by, place }: Speaker, roster: Roster): Promise<Inbox | undefined> {
  return by === 'lead' ? roster.people(place) : roster.lead(place);
}

/** How the recipient sees the sender: with its team, if that is another one. */
export function fromOf({ name, place, inbox }: Pick<Speaker, 'name' | 'place' | 'inbox'>, recipientTeam: string): string {
  return inbox === undefined || place.team === recipientTeam ? name : `${place.team}/${name}`;
}
