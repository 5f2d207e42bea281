/** The verbs of an agent's own mail. The guest answers the first two from its own disk; messages that are sent go to the host. */
import { MAX_WAIT_SECONDS, openRequest } from './agent-verbs.ts';
import { method } from './method.ts';
import { envelope, messageType, ownMessage, relayToHost } from './relay.ts';
import { count, described, flag, integer, list, nullable, object, type Parsed, text } from './shape.ts';

const checkParams = object(
  {},
  {
    from: described(text, 'Only messages of this agent.'),
    /** 0: nothing is read, and the host is not asked; for acknowledging alone. */
    limit: described(integer({ min: 0, max: 100 }), 'At most so many messages, 10 when absent; 0 only acknowledges.'),
    ack: described(list(text, { max: 1000 }), 'message_ids to acknowledge now: they are not shown again.'),
    /** What is read now is acknowledged by `ack` alone. */
    keep: described(flag, 'True: what is shown now stays new until it is named in ack.'),
  },
);
const checked = object(
  {
    messages: list(envelope),
    open_requests: list(openRequest),
    /** With those that are returned now. */
    unacked: count,
    next_seq: count,
    unknown_acks: list(text),
  },
  { /** Why open_requests may be missing some. */ note: text },
);

const waitParams = object(
  {},
  {
    from: described(text, 'Only a message of this agent.'),
    request_id: described(text, 'Only a message about this request.'),
    message_type: described(messageType, 'Only a message of this type.'),
    timeout_seconds: described(integer({ min: 1, max: MAX_WAIT_SECONDS }), 'For how long to wait, 30 when absent.'),
  },
);

export const mailVerbs = {
  checkMessages: method(checkParams, checked),
  waitForMessage: method(waitParams, object({ message: nullable(envelope), timed_out: flag })),
  sendMessage: method(ownMessage, relayToHost.teamMessage.result),
};

export type CheckParams = Parsed<typeof checkParams>;
export type Checked = Parsed<typeof checked>;
export type WaitParams = Parsed<typeof waitParams>;
