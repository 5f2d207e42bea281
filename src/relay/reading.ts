/** What people, and agents of their own, read back: copies with their states. Reading changes nothing; only acknowledging does. */
import { AgentisoError, NotFoundError } from '#lib/errors.ts';
import type { Mail, MailChange } from '#mail/mail.ts';
import type { FiledMessage, MessageQuery, Post } from './post.ts';
import { LEAD, OPERATOR, type Principal } from './principal.ts';
import { type Inbox, inboxOf, type Roster } from './roster.ts';
import { presentAgent, type SpeakerDeps } from './speaker.ts';

export interface ReadingDeps extends SpeakerDeps {
  readonly mail: Mail;
  readonly roster: Roster;
}

type Query = Omit<MessageQuery, 'limit'>;

export function createReading(deps: ReadingDeps): Pick<Post, 'read' | 'follow' | 'acknowledge'> {
  const { mail, roster } = deps;
  const read = async (principal: Principal, { limit, ...query }: MessageQuery): Promise<FiledMessage[]> => {
    const lists: FiledMessage[][] = [];
    for (const inbox of await inboxesFor(deps, principal, query)) {
      const mailbox = await mail.open(inbox.owner);
      lists.push(
        mailbox.copies({ limit, isWanted: (copy) => isWanted(copy, query) }).map((copy) => ({ ...copy, inbox: addressOf(inbox) })),
      );
    }
    return newest(lists, limit);
  };
  return {
    read,
    follow: (principal, query, signal) => follow(deps, read, { principal, query, signal }),
    async acknowledge(principal, { namespace, team, inbox: name }, messageIds) {
      const inbox = await roster.inbox({ namespace, team }, name);
      refuseOthers(deps, principal, inbox, 'acknowledge');
      return (await mail.open(inbox.owner)).ack(messageIds);
    },
  };
}

/** Throws NotFound for a team or inbox that is not there, Forbidden for one that is none of the reader's business. */
async function inboxesFor({ roster, ...deps }: ReadingDeps, principal: Principal, query: Query): Promise<Inbox[]> {
  const { namespace, team, inbox: name } = query;
  if (principal.kind === 'agent') {
    const { metadata, spec } = presentAgent(principal, deps);
    const own = await roster.inbox({ namespace: metadata.namespace, team: spec.team }, name ?? metadata.name);
    refuseOthers(deps, principal, own, 'read');
    return [own];
  }
  if (team !== undefined && name !== undefined) return [await roster.inbox({ namespace, team }, name)];
  const all = await roster.inboxes({ namespace, ...(team !== undefined && { team }) });
  if (team !== undefined && all.length === 0) throw new NotFoundError(`there is no team ${team} in namespace ${namespace}`);
  return name === undefined ? all : all.filter((inbox) => isNamed(inbox, name, all));
}

/** `lead` is the people's inbox in teams that no agent leads. */
function isNamed(inbox: Inbox, name: string, all: readonly Inbox[]): boolean {
  if (inbox.name === name) return true;
  return name === LEAD && inbox.name === OPERATOR && !all.some((other) => other.team === inbox.team && other.name === LEAD);
}

/** An agent has its own inbox. People read every one, and acknowledge what was written to people. */
function refuseOthers(deps: SpeakerDeps, principal: Principal, inbox: Inbox, verb: 'read' | 'acknowledge'): void {
  if (principal.kind === 'system' || (principal.kind === 'operator' && (verb === 'read' || !inbox.agent))) return;
  if (principal.kind === 'agent' && presentAgent(principal, deps).metadata.uid === inbox.owner) return;
  throw new AgentisoError('Forbidden', `only ${inbox.agent ? `agent ${inbox.name}` : 'people'} may ${verb} the inbox ${addressOf(inbox)}`);
}

function addressOf({ team, name }: Inbox): string {
  return `${team}/${name}`;
}

/** Assignments are between the system and the guest: they are no mail for anybody to read. */
function isWanted({ message, state }: Pick<FiledMessage, 'message' | 'state'>, query: Query): boolean {
  if (message.message_type === 'task_assignment') return false;
  if (query.unseen && state !== 'Accepted' && state !== 'Delivered') return false;
  if (query.from !== undefined && query.from !== message.from) return false;
  if (query.type !== undefined && query.type !== message.message_type) return false;
  return query.requestId === undefined || query.requestId === message.request_id;
}

/** Of several lists the newest, oldest of them first. Within one inbox the order is that of the inbox, whatever the clock said. */
export function newest(lists: readonly FiledMessage[][], limit: number): FiledMessage[] {
  const found: FiledMessage[] = [];
  const left = lists.map((list) => [...list]).filter((list) => list.length > 0);
  while (found.length < limit && left.length > 0) {
    const latest = left.reduce((best, list) => (timeOf(list) > timeOf(best) ? list : best));
    found.push(latest.pop() as FiledMessage);
    if (latest.length === 0) left.splice(left.indexOf(latest), 1);
  }
  return found.reverse();
}

function timeOf(list: readonly FiledMessage[]): string {
  return list.at(-1)?.message.timestamp ?? '';
}

const EVERYTHING = Number.MAX_SAFE_INTEGER;
const RANK = { Accepted: 0, Delivered: 1, Seen: 2, DeadLetter: 2 };

interface Following {
  readonly principal: Principal;
  readonly query: Query;
  readonly signal: AbortSignal;
}

/** Listens before it reads, so that nothing falls between the two; what came in both ways is given once. */
async function* follow(deps: ReadingDeps, read: Post['read'], { principal, query, signal }: Following): AsyncGenerator<FiledMessage> {
  let waiting: MailChange[] = [];
  let wake = () => {};
  const stop = deps.mail.onChange((change) => {
    waiting.push(change);
    wake();
  });
  const onAbort = () => wake();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const known = await read(principal, { ...query, limit: EVERYTHING });
    const ranks = new Map(known.map(({ message, inbox, state }) => [`${inbox} ${message.message_id}`, RANK[state]]));
    yield* known;
    let early = waiting.length;
    while (!signal.aborted) {
      for (const change of waiting.splice(0)) {
        const filed = await toFiled(deps, principal, query, change);
        const isNews = ({ inbox, message, state }: FiledMessage) => RANK[state] > (ranks.get(`${inbox} ${message.message_id}`) ?? -1);
        yield* early > 0 ? filed.filter(isNews) : filed;
        early = Math.max(0, early - 1);
      }
      if (waiting.length === 0 && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    stop();
    waiting = [];
    signal.removeEventListener('abort', onAbort);
  }
}

/** The copies of a change that the query asks for. Teams and agents may be younger than the query. */
async function toFiled(deps: ReadingDeps, principal: Principal, query: Query, change: MailChange): Promise<FiledMessage[]> {
  const { state, messages, owner } = change;
  if (state === 'Withdrawn' || messages[0]?.namespace !== query.namespace) return [];
  const wanted = messages.filter((message) => isWanted({ message, state }, query));
  if (wanted.length === 0) return [];
  const inboxes = await inboxesFor(deps, principal, query).catch(() => []);
  const inbox = inboxes.find((one) => one.owner === owner) ?? (principal.kind === 'agent' ? undefined : leavingInbox(deps, query, owner));
  return inbox ? wanted.map((message) => ({ message, state, inbox: addressOf(inbox) })) : [];
}

/** An agent on its way out is in no list any more; its mail is given up at that moment, which people hear of. */
function leavingInbox({ agentByUid }: ReadingDeps, { team, inbox: name }: Query, owner: string): Inbox | undefined {
  const agent = agentByUid(owner);
  if (agent?.metadata.deletionTimestamp === undefined) return undefined;
  const inbox = inboxOf(agent);
  return (team ?? inbox.team) === inbox.team && (name ?? inbox.name) === inbox.name ? inbox : undefined;
}
