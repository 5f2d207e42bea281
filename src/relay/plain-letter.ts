/** The letter that most are: a text from one agent to another of its own team. Where it goes follows at once from what is in memory. */
import type { KindObject, ObjectKey } from '#api/meta.ts';
import type { Agent, Team } from '#api/types.ts';
import type { Draft } from '#mail/mail.ts';
import type { Letter } from './post.ts';
import { EVERYBODY, LEAD, OPERATOR } from './principal.ts';
import { type Inbox, inboxOf, isStaying } from './roster.ts';
import type { Speaker } from './speaker.ts';

/** An object as it is in this moment. */
export type ObjectOf = (key: ObjectKey) => KindObject | undefined;

/** Where such a letter goes. Undefined: something may be said against it; then route.ts has a closer look. */
export function plainInbox(objectOf: ObjectOf, speaker: Speaker, to: string): Inbox | undefined {
  const { namespace, team: name } = speaker.place;
  const team = objectOf({ kind: 'Team', namespace, name }) as Team | undefined;
  if (team && (team.spec.parent !== undefined || !team.spec.messaging.enabled)) return undefined;
  const agent = memberOf(objectOf, speaker, `${name}-${to}`) ?? memberOf(objectOf, speaker, to);
  return agent && inboxOf(agent);
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** What is written into that inbox. */
export function plainDraft({ name: from, incarnation }: Speaker, { namespace, team, name: to }: Inbox, letter: Letter): Draft {
  const draft: Writable<Draft> = { namespace, team, from, to, message_type: 'text', content: letter.content };
  // One by one and not spread: this is done for nearly every message.
  if (incarnation !== undefined) draft.from_incarnation = incarnation;
  if (letter.metadata !== undefined) draft.metadata = letter.metadata;
  if (letter.requestId !== undefined) draft.request_id = letter.requestId;
  return draft;
}

/** False: it is no such letter. */
export function isPlain({ inbox }: Speaker, { to, type = 'text', content, from, replyTo }: Letter): boolean {
  const isSaidByItself = inbox !== undefined && from === undefined && replyTo === undefined;
  const isForOne = to !== LEAD && to !== OPERATOR && to !== EVERYBODY && !to.includes('/');
  return isSaidByItself && isForOne && type === 'text' && content !== '';
}

function memberOf(objectOf: ObjectOf, { place }: Speaker, name: string): Agent | undefined {
  const agent = objectOf({ kind: 'Agent', namespace: place.namespace, name }) as Agent | undefined;
  return agent?.spec.team === place.team && isStaying(agent) ? agent : undefined;
}
