/** The relay connection, logical port 5001: messages and signs of life. Nothing here waits for a command or a file. */
import { agentVerbs } from './agent-verbs.ts';
import { common, nothing } from './common.ts';
import { attemptKey, taskResult } from './control.ts';
import { parseWireError } from './envelope.ts';
import { type HandlersOf, method, type NameIn, type ParamsOf, type ResultOf } from './method.ts';
import { promptJob } from './prompt.ts';
import { count, described, finite, flag, integer, list, map, object, oneOf, type Parsed, parser, text } from './shape.ts';

export const MESSAGE_TYPES = [
  'text',
  'task_update',
  'task_assignment',
  'request',
  'response',
  'nudge',
  'broadcast',
  'shutdown_request',
  'shutdown_response',
  'plan_submission',
  'plan_approval',
  'status_update',
] as const;
export const messageType = oneOf(...MESSAGE_TYPES);

/** One copy in one inbox, the same on every hop and never changed. */
export const envelope = object(
  {
    /** UUIDv7. */
    message_id: text,
    /** Per inbox, from 1, without gaps. */
    seq: integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    namespace: text,
    team: text,
    from: text,
    to: text,
    message_type: messageType,
    content: text,
    timestamp: text,
  },
  { from_incarnation: text, metadata: map(text), request_id: text, reply_to: text },
);

/** What is in the content of a task_assignment. */
export const taskAssignment = object(
  {
    taskUid: text,
    taskName: text,
    attempt: count,
    fencingToken: count,
    command: text,
    timeoutMs: integer({ min: 1, max: 86_400_000 }),
  },
  {
    workdir: text,
    env: map(text),
    /** Given to a coding agent, in place of the command. That is for guests that know no prompts: it says so and fails. */
    prompt: promptJob,
  },
);

/** Messages that one hint carries. */
export const MAX_HINTED = 100;
/** Results that one hint acknowledges. */
export const MAX_ACCEPTED = 100;

/** Results that one heartbeat carries. */
export const MAX_TOLD_RESULTS = 20;

/** Messages that one call of a sender carries. */
export const MAX_SENT_TOGETHER = 64;

const heartbeat = object(
  {
    /** One minute's average of runnable processes, of the machine. */
    load: finite,
    runningTasks: list(attemptKey, { max: 64 }),
    freeSlots: count,
    pendingResults: count,
    uptimeMs: count,
    /** The last seq of the inbox that is stored here. */
    storedSeq: count,
  },
  {
    /** The commit that the workspace's repository has checked out; absent where there is none, or it lies elsewhere. */
    head: text,
    /** How many programs of the workspace wait for a message; absent when none does. */
    waits: count,
    /**
     * Those of the pending results that were not told on this connection yet: with them the host has all there are. Absent where not all of
     * them can be told like this, and pollResults brings them. A guest that tells them takes `accepted` with a hint.
     */
    results: list(taskResult, { max: MAX_TOLD_RESULTS }),
  },
);

/** What whoever writes a message says of it. */
const written = {
  to: described(text, 'The name of an agent of the team, lead, orchestrator (the people who run the team), * for all, or TEAM/NAME.'),
  content: described(text, 'At most 256 KiB together with the metadata.'),
};
const writtenBeside = {
  message_type: described(messageType, 'text when absent, broadcast for *.'),
  metadata: described(map(text), 'Words beside the content, by name.'),
  reply_to: described(text, 'The message_id of the message that this one answers.'),
  request_id: described(text, 'The request that this message is about.'),
};
/** An agent's own message: who writes it follows from the connection. */
export const ownMessage = object(written, writtenBeside);
const teamMessage = object(written, { ...writtenBeside, from: text });

const wireError = parser(parseWireError, () => ({ type: 'object' }));
/** What became of one of several messages: the id of one that is accepted, or why it is not. */
const sentTogether = object({}, { message_id: text, delivered: flag, error: wireError });

export const relayToGuest = {
  ...common,
  /**
   * There is mail up to `nextSeq` - 1; the newest of it may come along, so that who has all before it need not ask. `accepted`: the host has
   * these results for good, as with ackResults; they are settled when it is answered.
   */
  messageHint: method(
    object({ nextSeq: count }, { messages: list(envelope, { max: MAX_HINTED }), accepted: list(attemptKey, { max: MAX_ACCEPTED }) }),
    nothing,
  ),
};

export const relayToHost = {
  ping: common.ping,
  heartbeat: method(heartbeat, nothing),
  /** Accepted when it is answered; by whom, and by whom not, is told for a broadcast. `delivered`: the guest at the other end has it already. */
  teamMessage: method(
    teamMessage,
    object(
      { message_id: text, state: oneOf('Accepted') },
      { delivered: flag, accepted: list(text), failed: list(object({ agent: text, code: text, message: text })) },
    ),
  ),
  /** Several of them to one inbox each, in their order; one that is refused keeps no other back. Answered when the last is accepted. */
  teamMessages: method(
    object({ messages: list(teamMessage, { min: 1, max: MAX_SENT_TOGETHER }) }),
    object({ results: list(sentTogether, { max: MAX_SENT_TOGETHER }) }),
  ),
  /** Messages after `after`, in order; consumes nothing. */
  teamReceive: method(
    object({ after: count, limit: integer({ min: 1, max: 100 }) }),
    object({ messages: list(envelope, { max: 100 }), nextSeq: count }),
  ),
  /** Everything up to `storedSeq` is on the guest's disk; the ids were seen by the agent. */
  teamAck: method(object({ storedSeq: count, seen: list(text, { max: 1000 }) }), object({ unknown: list(text) })),
  /** POST /task: becomes a Task of this agent. */
  taskCreate: method(object({ title: text, command: text }, { timeoutSeconds: integer({ min: 1, max: 86_400 }) }), object({ task: text })),
  ...agentVerbs,
};

export type RelayToGuest = typeof relayToGuest;
export type RelayToHost = typeof relayToHost;
export type RelayToGuestHandlers = HandlersOf<RelayToGuest>;
export type RelayToHostHandlers = HandlersOf<RelayToHost>;
export type RelayHostMethodName = NameIn<RelayToHost>;
export type HintParams = ParamsOf<RelayToGuest, 'messageHint'>;
export type RelayHostParams<M extends RelayHostMethodName> = ParamsOf<RelayToHost, M>;
export type RelayHostResult<M extends RelayHostMethodName> = ResultOf<RelayToHost, M>;

export type MessageType = (typeof MESSAGE_TYPES)[number];
export type Envelope = Parsed<typeof envelope>;
export type TaskAssignment = Parsed<typeof taskAssignment>;
export type HeartbeatParams = Parsed<typeof heartbeat>;
export type TeamMessageParams = Parsed<typeof teamMessage>;
export type SentTogether = Parsed<typeof sentTogether>;
