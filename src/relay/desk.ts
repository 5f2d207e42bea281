/** What guests ask over the relay, in the words of the rooms that answer it. Who asks follows from the connection and from nothing else. */
import { shortName } from '#api/types.ts';
import { AgentisoError } from '#lib/errors.ts';
import type { Mail } from '#mail/mail.ts';
import { toWireError } from '#protocol/protocol-error.ts';
import type { Envelope, RelayToHostHandlers, SentTogether } from '#protocol/relay.ts';
import type { Vault, VaultScope } from '#vault/vault.ts';
import type { Directory } from './directory.ts';
import type { Letter, Post, Posted } from './post.ts';
import type { Principal } from './principal.ts';
import { presentAgent, type SpeakerDeps } from './speaker.ts';
import type { TaskBook, TaskReference } from './task-book.ts';

type Asked = Omit<RelayToHostHandlers, 'ping' | 'heartbeat'>;

export interface AskedIn {
  readonly signal: AbortSignal;
  /** The run at the other end of the connection; the agent's present one when absent. */
  readonly incarnation?: string;
}

/** As the sessions want it: `id` is the uid of the agent at the other end. */
export type Desk = {
  readonly [M in keyof Asked]: (id: string, params: Parameters<Asked[M]>[0], context: AskedIn) => ReturnType<Asked[M]>;
};

export interface DeskDeps extends SpeakerDeps {
  readonly mail: Mail;
  readonly post: Post;
  readonly book: TaskBook;
  readonly vault: Vault;
  readonly directory: Directory;
  /** The agent itself did something. */
  readonly onActivity?: (uid: string) => void;
}

type AgentPrincipal = Principal & { readonly kind: 'agent' };

export function createRelayDesk(deps: DeskDeps): Desk {
  const callerOf = (uid: string, { incarnation }: AskedIn): AgentPrincipal => {
    const agent = deps.agentByUid(uid);
    if (!agent) throw new AgentisoError('FenceLost', 'this agent no longer exists');
    const caller = { kind: 'agent' as const, agent, incarnation: incarnation ?? agent.status?.incarnation ?? '' };
    presentAgent(caller, deps);
    return caller;
  };
  const active = (uid: string, context: AskedIn): AgentPrincipal => {
    const caller = callerOf(uid, context);
    deps.onActivity?.(uid);
    return caller;
  };
  return { ...mailVerbs(deps, callerOf, active), ...taskVerbs(deps, active), ...teamVerbs(deps, active) };
}

type CallerOf = (uid: string, context: AskedIn) => AgentPrincipal;

function mailVerbs({ post, mail, onActivity }: DeskDeps, callerOf: CallerOf, active: CallerOf) {
  return {
    async teamMessage(uid, params, context) {
      const speaker = active(uid, context);
      const { messageId, accepted, failed, delivered } = await post.send(speaker, letterOf(speaker, params));
      if (params.to !== '*') return { message_id: messageId, state: 'Accepted', delivered };
      return { message_id: messageId, state: 'Accepted', delivered, accepted: [...accepted], failed: [...failed] };
    },
    async teamMessages(uid, { messages }, context) {
      const speaker = active(uid, context);
      const posted = await post.sendAll(
        speaker,
        messages.map((params) => letterOf(speaker, params)),
      );
      return { results: posted.map(toSent) };
    },
    async teamReceive(uid, { after, limit }, context) {
      const mailbox = await mail.open(callerOf(uid, context).agent.metadata.uid);
      if (after >= mailbox.state.nextSeq) await mailbox.skipTo(after);
      return { messages: withinFrame(mailbox.read({ after, limit })), nextSeq: mailbox.state.nextSeq };
    },
    async teamAck(uid, { storedSeq, seen }, context) {
      const mailbox = await mail.open(callerOf(uid, context).agent.metadata.uid);
      if (storedSeq >= mailbox.state.nextSeq) await mailbox.skipTo(storedSeq);
      // Both begin in the same moment, so that one write holds them.
      const delivered = mailbox.markDelivered(storedSeq);
      if (seen.length > 0) onActivity?.(uid);
      const [{ unknown }] = await Promise.all([seen.length > 0 ? mailbox.ack(seen) : { unknown: [] }, delivered]);
      return { unknown };
    },
  } satisfies Partial<Desk>;
}

/** What is so for nearly every message is left out. */
function toSent(posted: Posted): SentTogether {
  if ('error' in posted) return { error: toWireError(posted.error) };
  return posted.delivered ? { message_id: posted.messageId, delivered: true } : { message_id: posted.messageId };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function letterOf(speaker: AgentPrincipal, params: Parameters<Asked['teamMessage']>[0]): Letter {
  const { namespace, team } = placeOf(speaker);
  const { to, content, message_type, metadata, reply_to, request_id, from } = params;
  const letter: Writable<Letter> = { namespace, team, to, content };
  // One by one and not spread: this is done for every message.
  if (message_type !== undefined) letter.type = message_type;
  if (metadata !== undefined) letter.metadata = metadata;
  if (reply_to !== undefined) letter.replyTo = reply_to;
  if (request_id !== undefined) letter.requestId = request_id;
  if (from !== undefined) letter.from = from;
  return letter;
}

function taskVerbs({ book }: DeskDeps, active: CallerOf) {
  return {
    async taskCreate(uid, { title, command, timeoutSeconds }, context) {
      const caller = active(uid, context);
      const { metadata, spec } = caller.agent;
      const { name } = await book.createTask(caller, {
        ...placeOf(caller),
        title,
        command,
        assignTo: shortName(spec.team, metadata.name),
        ...(timeoutSeconds !== undefined && { timeoutSeconds }),
      });
      return { task: name };
    },
    async openRequests(uid, { limit = 10 }, context) {
      const caller = active(uid, context);
      const { namespace, team } = placeOf(caller);
      return { requests: book.openRequests(namespace, team, caller, limit) };
    },
    async requestTask(uid, { timeout_seconds = 30, ...asked }, context) {
      const caller = active(uid, context);
      const { requestId } = await book.request(caller, { ...placeOf(caller), ...asked, timeoutSeconds: timeout_seconds });
      return { request_id: requestId, status: 'open' };
    },
    async claimRequest(uid, { request_id }, context) {
      const caller = active(uid, context);
      return book.claim(caller, taskOf(caller, request_id));
    },
    async releaseTask(uid, { task }, context) {
      const caller = active(uid, context);
      return { status: await book.release(caller, taskOf(caller, task)) };
    },
    async completeTask(uid, { task, ...done }, context) {
      const caller = active(uid, context);
      return { status: await book.complete(caller, taskOf(caller, task), done) };
    },
    async updateTask(uid, { task, ...change }, context) {
      const caller = active(uid, context);
      return { status: await book.update(caller, taskOf(caller, task), change) };
    },
    async submitPlan(uid, { task, plan }, context) {
      const caller = active(uid, context);
      return book.submitPlan(caller, taskOf(caller, task), plan);
    },
    async approvePlan(uid, { task, ...decision }, context) {
      const caller = active(uid, context);
      return { status: await book.decidePlan(caller, taskOf(caller, task), decision) };
    },
  } satisfies Partial<Desk>;
}

function teamVerbs({ vault, directory }: DeskDeps, active: CallerOf) {
  return {
    async listAgents(uid, _params, context) {
      return { agents: await directory.listAgents(active(uid, context)) };
    },
    async createSubTeam(uid, params, context) {
      return directory.createSubTeam(active(uid, context), params);
    },
    async getBudget(uid, _params, context) {
      return directory.budget(active(uid, context));
    },
    async vaultRead(uid, { path }, context) {
      return vault.read(scopeOf(active(uid, context)), path);
    },
    async vaultWrite(uid, { path, content, mode, if_version }, context) {
      const options = { ...(mode !== undefined && { mode }), ...(if_version !== undefined && { ifVersion: if_version }) };
      return vault.write(scopeOf(active(uid, context)), path, content, options);
    },
    async vaultSearch(uid, { is_regex, ...query }, context) {
      const asked = { ...query, ...(is_regex !== undefined && { isRegex: is_regex }) };
      const { hits, isCut } = await vault.search(scopeOf(active(uid, context)), asked, context.signal);
      return { hits: [...hits], is_cut: isCut };
    },
    async vaultList(uid, params, context) {
      const { entries, isCut } = await vault.list(scopeOf(active(uid, context)), params);
      return { entries: [...entries], is_cut: isCut };
    },
  } satisfies Partial<Desk>;
}

function placeOf({ agent: { metadata, spec } }: AgentPrincipal): { readonly namespace: string; readonly team: string } {
  return { namespace: metadata.namespace, team: spec.team };
}

function scopeOf(caller: AgentPrincipal): VaultScope {
  return placeOf(caller);
}

function taskOf(caller: AgentPrincipal, task: string): TaskReference {
  return { ...placeOf(caller), task };
}

/** Well below what a frame holds. */
const ANSWER_BYTES = 3 * 1024 * 1024;

/** The first ones, as many as one answer carries, at least one; the guest asks for the rest. */
function withinFrame(messages: readonly Envelope[]): Envelope[] {
  let bytes = 0;
  const end = messages.findIndex((message, index) => {
    bytes += Buffer.byteLength(JSON.stringify(message));
    return index > 0 && bytes > ANSWER_BYTES;
  });
  return end < 0 ? [...messages] : messages.slice(0, end);
}
