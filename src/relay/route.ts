/** Where a letter goes: who it is for, and whether it may be said. */
import type { Client } from '#client/client.ts';
import { AgentisoError, InvalidError, NotFoundError } from '#lib/errors.ts';
import type { Mail } from '#mail/mail.ts';
import type { MessageType } from '#protocol/relay.ts';
import { defaultType, isForLead, refuseSaying, type Saying } from './matrix.ts';
import { refuseNudge } from './nudges.ts';
import type { Letter } from './post.ts';
import { EVERYBODY, LEAD } from './principal.ts';
import { type Inbox, inboxOf, type Roster, type TeamName, toAddress } from './roster.ts';
import { fromOf, leadFor, type Speaker } from './speaker.ts';

export interface Route {
  readonly type: MessageType;
  readonly isToEverybody: boolean;
  readonly inboxes: readonly Inbox[];
  /** As it stands in `to` of every copy. */
  readonly to: string;
  /** A peer that handed it in to the speaker. */
  readonly peer?: Inbox;
}

export interface RouteDeps {
  readonly client: Client;
  readonly mail: Mail;
  readonly roster: Roster;
}

/** What the letter says of where it goes. */
interface Heading {
  readonly place: TeamName;
  readonly name: string;
  readonly isToEverybody: boolean;
  readonly type: MessageType;
}

/** Whom that means. */
interface Target {
  /** Absent for everybody. */
  readonly one?: Inbox;
  readonly inboxes: readonly Inbox[];
  /** Undefined also where it does not matter. */
  readonly lead: Inbox | undefined;
  readonly peer: Inbox | undefined;
}

/** Everything that can be said against a letter, before anything is written. */
export async function routeOf(deps: RouteDeps, speaker: Speaker, letter: Letter): Promise<Route> {
  const heading = headingOf(speaker, letter);
  const { type, isToEverybody, place, name } = heading;
  if (place.team !== speaker.place.team) await refuseStranger(deps.roster, speaker, place);
  await refuseSilence(deps.roster, speaker, place);
  const target = await targetOf(deps.roster, speaker, letter, heading);
  const { one, inboxes, peer } = target;
  refuseSaying(sayingOf(speaker, heading, target));
  if (type === 'nudge' || isToEverybody) await refusePolicy(deps, speaker, letter, heading);
  if (letter.replyTo !== undefined)
    await refuseUnknownReply(deps.mail, letter.replyTo, [await ownInbox(deps.roster, speaker), peer, ...inboxes]);
  return { type, isToEverybody, inboxes, to: name === LEAD ? name : (one?.name ?? name), ...(peer && { peer }) };
}

function headingOf({ place: own }: Speaker, { to, type: asked, content }: Letter): Heading {
  const { place, name } = toAddress(own, to);
  const isToEverybody = name === EVERYBODY;
  const type = asked ?? defaultType(isToEverybody);
  if (content === '' && type !== 'shutdown_request') throw new InvalidError('content must not be empty');
  return { place, name, isToEverybody, type };
}

/** Most messages go from one agent to another of its team: for them nothing else is looked for. */
async function targetOf(roster: Roster, speaker: Speaker, letter: Letter, { place, name, isToEverybody, type }: Heading): Promise<Target> {
  // Looked for only where it matters: a team without a lead has none to be found.
  const lead = name === LEAD || isForLead(type) ? await leadFor(speaker, roster) : undefined;
  const peer = letter.from === undefined ? undefined : await peerOf(roster, speaker, letter);
  if (isToEverybody && peer) throw inAnotherName(speaker, peer);
  if (isToEverybody) return { inboxes: await everybody(roster, speaker, { type, lead }), lead, peer };
  const one = await recipientOf({ roster, speaker, lead, peer }, place, name);
  return { one, inboxes: [one], lead, peer };
}

function sayingOf({ by, place: own }: Speaker, { type, place }: Heading, { one, lead, peer }: Target): Saying {
  return {
    type,
    by: peer ? 'agent' : by,
    to: one === undefined ? 'everybody' : one.agent ? 'agent' : 'people',
    // What a peer hands in to the lead has come to the lead.
    isToLead: one !== undefined && (peer ? by === 'lead' : one.owner === lead?.owner),
    isWithinTeam: place.team === own.team,
  };
}

async function refusePolicy({ client, roster }: RouteDeps, speaker: Speaker, { requestId }: Letter, heading: Heading): Promise<void> {
  if (heading.type === 'nudge' && requestId !== undefined) return refuseNudge(client, speaker, requestId);
  if (heading.isToEverybody) await refuseBroadcast(roster, speaker);
}

/** Agents talk within their team and with its neighbours; people and the system with every team. */
async function refuseStranger(roster: Roster, { place: own, inbox }: Speaker, place: TeamName): Promise<void> {
  if (inbox === undefined || place.team === own.team || (await roster.areNeighbours(own.namespace, own.team, place.team))) return;
  throw new AgentisoError('Forbidden', `team ${own.team} may not send to team ${place.team}`, {
    hint: 'messages go within a team, and between a team and its direct sub-teams',
  });
}

async function refuseSilence(roster: Roster, { by, place: own }: Speaker, place: TeamName): Promise<void> {
  if (by === 'system') return;
  for (const one of place.team === own.team ? [own] : [own, place]) {
    if ((await roster.policy(one)).enabled) continue;
    throw new AgentisoError('Unavailable', `messages are turned off in team ${one.team}`, {
      reason: 'MessagingDisabled',
      hint: 'set spec.messaging.enabled of the team, and of its parents, to true',
    });
  }
}

async function refuseBroadcast(roster: Roster, { by, place }: Speaker): Promise<void> {
  if (by !== 'agent' || (await roster.policy(place)).broadcast === 'Any') return;
  throw new AgentisoError('Forbidden', `only the lead may write to everybody in team ${place.team}`, {
    hint: 'write to lead, or set spec.messaging.broadcast of the team to Any',
  });
}

/**
 * A message that came in over the agent's own HTTP interface from a peer is handed on by the agent that received it. Its word is taken for
 * mail to itself only, and the mail says who handed it on.
 */
async function peerOf(roster: Roster, speaker: Speaker, { from }: Letter): Promise<Inbox | undefined> {
  if (from === undefined || from === speaker.name) return undefined;
  if (!speaker.inbox) throw new AgentisoError('Forbidden', `${speaker.name} may not send in the name of ${from}`);
  const { place, name } = toAddress(speaker.place, from);
  await refuseStranger(roster, speaker, place);
  const agent = await roster.agent(place, name);
  if (agent) return inboxOf(agent);
  throw new NotFoundError(`there is no agent ${name} in team ${place.team}`);
}

interface Finding {
  readonly roster: Roster;
  readonly speaker: Speaker;
  readonly lead: Inbox | undefined;
  readonly peer: Inbox | undefined;
}

async function recipientOf({ roster, speaker, lead, peer }: Finding, place: TeamName, name: string): Promise<Inbox> {
  const found = await roster.inbox(place, name);
  if (peer) {
    if (found.owner === speaker.inbox?.owner) return found;
    throw inAnotherName(speaker, peer);
  }
  // What the lead itself has to tell its lead is for the people.
  return name === LEAD && place.team === speaker.place.team && lead ? lead : found;
}

function inAnotherName({ name }: Speaker, peer: Inbox): AgentisoError {
  return new AgentisoError('Forbidden', `agent ${name} may not send in the name of ${peer.name}`, { hint: 'leave out from' });
}

/** All agents of the team but the speaker. News reach whoever leads also where no agent does. */
async function everybody(
  roster: Roster,
  { place, inbox }: Speaker,
  { type, lead }: { readonly type: MessageType; readonly lead: Inbox | undefined },
): Promise<Inbox[]> {
  const agents = (await roster.agentsOf(place)).map(inboxOf).filter(({ owner }) => owner !== inbox?.owner);
  const isNewsForPeople = type === 'status_update' && lead !== undefined && lead.agent === undefined;
  return isNewsForPeople ? [...agents, lead] : agents;
}

async function ownInbox(roster: Roster, { by, inbox, place }: Speaker): Promise<Inbox | undefined> {
  return by === 'operator' ? roster.people(place) : inbox;
}

async function refuseUnknownReply(mail: Mail, replyTo: string, inboxes: readonly (Inbox | undefined)[]): Promise<void> {
  for (const inbox of inboxes) {
    if (inbox && (await mail.open(inbox.owner)).has(replyTo)) return;
  }
  throw new NotFoundError(`reply_to: there is no message ${replyTo} in your inbox or the recipient's`);
}

/** `from` and what belongs to it, for one recipient. */
export function senderFields(speaker: Speaker, { peer }: Route, inbox: Inbox, metadata: Letter['metadata']) {
  if (peer) {
    const from = peer.team === inbox.team ? peer.name : `${peer.team}/${peer.name}`;
    return { from, metadata: { ...metadata, relayed_by: speaker.name } };
  }
  const { incarnation } = speaker;
  return {
    from: fromOf(speaker, inbox.team),
    ...(incarnation !== undefined && { from_incarnation: incarnation }),
    ...(metadata && { metadata }),
  };
}
