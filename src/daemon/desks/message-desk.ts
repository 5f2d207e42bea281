/** `/messages`: what people send to teams, read, acknowledge, and decide about plans. Whoever is let in here speaks as operator. */
import { AgentisoError } from '#lib/errors.ts';
import { MESSAGE_TYPES, type MessageType } from '#protocol/relay.ts';
import type { FiledMessage, Letter, MessageQuery, Post } from '#relay/post.ts';
import { OPERATOR, type Principal } from '#relay/principal.ts';
import type { TaskBook } from '#relay/task-book.ts';
import { type Desk, type DeskAnswer, type DeskRequest, onlyAdmins } from '#server/desk.ts';

export interface MessageDeskDeps {
  readonly post: Post;
  readonly taskBook: Pick<TaskBook, 'decidePlan'>;
}

type Verb = (request: DeskRequest, deps: MessageDeskDeps) => Promise<DeskAnswer>;

const VERBS: Readonly<Record<string, Verb>> = {
  'GET ': read,
  'GET follow': follow,
  'POST ': send,
  'POST ack': acknowledge,
  'POST plan': decidePlan,
};

export function createMessageDesk(deps: MessageDeskDeps): Desk {
  return {
    may: onlyAdmins,
    async answer(request) {
      const verb = VERBS[`${request.method} ${request.path}`];
      if (verb) return verb(request, deps);
      const known = Object.keys(VERBS).map((each) => each.replace(' ', ' /messages/').replace(/\/$/, ''));
      throw new AgentisoError('NotFound', `there is no ${request.method} /messages/${request.path}; there is ${known.join(', ')}`);
    },
  };
}

/** From the token or the socket, never from what is said. */
function operator({ identity: { user } }: DeskRequest): Principal {
  return { kind: 'operator', user };
}

async function read(request: DeskRequest, { post }: MessageDeskDeps): Promise<DeskAnswer> {
  const limit = limitOf(request.query.get('limit'));
  const isOldestFirst = isOldest(request.query.get('order'));
  const items = await post.read(operator(request), { ...queryOf(request.query), limit: isOldestFirst ? EVERYTHING : limit });
  return { status: 200, value: { items: isOldestFirst ? items.slice(0, limit) : items } };
}

async function follow(request: DeskRequest, { post }: MessageDeskDeps): Promise<DeskAnswer> {
  const [query, limit] = [queryOf(request.query), request.query.get('limit')];
  // Asked first, for its refusals: a stream that has begun can give none.
  const recent = await post.read(operator(request), { ...query, limit: limitOf(limit) });
  const followed = post.follow(operator(request), query, request.signal);
  return { status: 200, lines: limit === null ? followed : withoutOlder(followed, recent) };
}

/** A message older than the oldest that is wanted is left out, however often its state changes. */
async function* withoutOlder(followed: AsyncIterable<FiledMessage>, recent: readonly FiledMessage[]): AsyncIterable<FiledMessage> {
  const oldest = recent[0]?.message.message_id ?? '';
  // Identifiers of messages begin with their time.
  for await (const filed of followed) if (filed.message.message_id >= oldest) yield filed;
}

async function send(request: DeskRequest, { post }: MessageDeskDeps): Promise<DeskAnswer> {
  const fields = await request.fields();
  const metadata = metadataOf(fields['metadata']);
  const letter: Letter = {
    namespace: required(fields, 'namespace'),
    team: required(fields, 'team'),
    to: required(fields, 'to'),
    content: required(fields, 'content'),
    ...optional('type', typeOf(given(fields, 'type'))),
    ...optional('replyTo', given(fields, 'replyTo')),
    ...optional('requestId', given(fields, 'requestId')),
    ...optional('metadata', metadata),
  };
  return { status: 201, value: await post.send(operator(request), letter) };
}

async function acknowledge(request: DeskRequest, { post }: MessageDeskDeps): Promise<DeskAnswer> {
  const fields = await request.fields();
  const ids = fields['messageIds'];
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string') || ids.length > MOST_IDS) {
    throw invalid('messageIds', `a list of at most ${MOST_IDS} identifiers`);
  }
  const inbox = { namespace: required(fields, 'namespace'), team: required(fields, 'team'), inbox: given(fields, 'inbox') ?? OPERATOR };
  return { status: 200, value: await post.acknowledge(operator(request), inbox, ids) };
}

async function decidePlan(request: DeskRequest, { taskBook }: MessageDeskDeps): Promise<DeskAnswer> {
  const fields = await request.fields();
  const approved = fields['approved'];
  if (typeof approved !== 'boolean') throw invalid('approved', 'true or false');
  const feedback = given(fields, 'feedback');
  const reference = { namespace: required(fields, 'namespace'), team: required(fields, 'team'), task: required(fields, 'task') };
  const status = await taskBook.decidePlan(operator(request), reference, { approved, ...optional('feedback', feedback) });
  return { status: 200, value: { status } };
}

const USUAL_LIMIT = 100;
const EVERYTHING = Number.MAX_SAFE_INTEGER;
const MOST = 1_000;
const MOST_IDS = 1_000;

function limitOf(value: string | null): number {
  const limit = value === null ? USUAL_LIMIT : Number(value);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST) throw invalid('limit', `a whole number from 1 to ${MOST}`);
  return limit;
}

/** Which of them, when there are more than are wanted; in the answer the newest is last either way. */
function isOldest(order: string | null): boolean {
  if (order === null || order === 'newest' || order === 'oldest') return order === 'oldest';
  throw invalid('order', 'newest or oldest');
}

function queryOf(query: URLSearchParams): Omit<MessageQuery, 'limit'> {
  const unseen = query.get('unseen') ?? 'false';
  if (!['true', 'false', '1', '0'].includes(unseen)) throw invalid('unseen', 'true or false');
  return {
    namespace: query.get('namespace') || 'default',
    ...optional('team', query.get('team') ?? undefined),
    ...optional('inbox', query.get('inbox') ?? undefined),
    ...optional('from', query.get('from') ?? undefined),
    ...optional('type', typeOf(query.get('type') ?? undefined)),
    ...optional('requestId', query.get('requestId') ?? undefined),
    ...(unseen === 'true' || unseen === '1' ? { unseen: true } : {}),
  };
}

function typeOf(value: string | undefined): MessageType | undefined {
  if (value === undefined || (MESSAGE_TYPES as readonly string[]).includes(value)) return value as MessageType | undefined;
  throw invalid('type', `one of ${MESSAGE_TYPES.join(', ')}`);
}

type Fields = Readonly<Record<string, unknown>>;

function required(fields: Fields, name: string): string {
  const value = given(fields, name);
  if (value !== undefined && value !== '') return value;
  throw invalid(name, 'text');
}

function given(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || typeof value === 'string') return value;
  throw invalid(name, 'text');
}

function metadataOf(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return undefined;
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isMap && Object.values(value).every((each) => typeof each === 'string')) return value as Readonly<Record<string, string>>;
  throw invalid('metadata', 'a map of texts');
}

function optional<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };
}

function invalid(field: string, accepted: string): AgentisoError {
  return new AgentisoError('Invalid', `${field}: give ${accepted}`);
}
