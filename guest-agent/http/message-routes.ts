/** Messages and tasks over HTTP: what is read comes from the inbox, what is sent is accepted by the host or not at all. */
import type { IncomingMessage } from 'node:http';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { type RelayHostParams, relayToHost, type TeamMessageParams } from '#protocol/relay.ts';
import { readFields } from './body.ts';
import type { Caller } from './caller.ts';
import type { HttpParts } from './http-door.ts';
import type { Route } from './routes.ts';

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 100;
const MESSAGE_FIELDS = ['content', 'message_type', 'reply_to', 'request_id', 'metadata', 'from', 'to'];
const TASK_FIELDS = ['title', 'command', 'prompt', 'timeoutSeconds', 'timeout_seconds'];

export interface Exchange {
  readonly parts: HttpParts;
  readonly request: IncomingMessage;
  readonly route: Route;
  readonly caller: Caller;
  /** The agent's own name. */
  readonly self: string;
}

export interface Reply {
  readonly status: number;
  readonly body: object;
}

/** Read only: what is shown here is not acknowledged by it. */
export function readMessages({ parts, route: { query } }: Exchange): Reply {
  const after = toCount(query, 'after', { usual: 0, min: 0, max: Number.MAX_SAFE_INTEGER });
  const limit = toCount(query, 'limit', { usual: DEFAULT_LIMIT, min: 1, max: MAX_LIMIT });
  return { status: 200, body: { messages: parts.inbox.read({ after, limit }), next_seq: parts.inbox.lastSeq + 1 } };
}

export async function sendMessage(exchange: Exchange): Promise<Reply> {
  const fields = await readFields(exchange.request, MESSAGE_FIELDS);
  const params = toTeamMessage(fields, exchange);
  return { status: 202, body: await exchange.parts.host.call('teamMessage', params) };
}

/** A peer writes to this agent, and under its own name only; the agent itself writes to whom it likes. */
export function toTeamMessage(
  fields: Readonly<Record<string, unknown>>,
  { caller, self }: Pick<Exchange, 'caller' | 'self'>,
): TeamMessageParams {
  const sender = caller.kind === 'self' ? self : caller.name;
  const message = relayToHost.teamMessage.params({ to: self, ...fields }, 'message');
  if (message.content === '') throw new ProtocolError('Invalid', 'content must not be empty');
  if (message.from !== undefined && message.from !== sender) {
    throw new ProtocolError('Forbidden', `this request comes from ${sender}, not from ${message.from}`);
  }
  if (message.message_type === 'task_assignment') throw new ProtocolError('Forbidden', 'task_assignment is not for agents to send');
  if (caller.kind === 'self') return message;
  if (message.to !== self) throw new ProtocolError('Forbidden', `messages that come in here are for ${self}, not for ${message.to}`);
  return { ...message, from: sender };
}

export async function createTask({ parts, request }: Exchange): Promise<Reply> {
  const { task } = await parts.host.call('taskCreate', toTask(await readFields(request, TASK_FIELDS)));
  return { status: 202, body: { task_id: task } };
}

export function toTask(fields: Readonly<Record<string, unknown>>): RelayHostParams<'taskCreate'> {
  if (fields['prompt'] !== undefined) throw new ProtocolError('Invalid', 'prompt is not supported yet: give a command');
  const { timeout_seconds, ...rest } = fields;
  return relayToHost.taskCreate.params({ ...rest, ...(timeout_seconds !== undefined && { timeoutSeconds: timeout_seconds }) }, 'task');
}

interface Bounds {
  readonly usual: number;
  readonly min: number;
  readonly max: number;
}

function toCount(query: URLSearchParams, name: string, { usual, min, max }: Bounds): number {
  const text = query.get(name);
  if (text === null) return usual;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new ProtocolError('Invalid', `${name} must be a whole number from ${min} to ${max}`);
  return value;
}
