/** What guests ask over the relay, answered from mail and resources. Who asks follows from the connection and from nothing else. */
import { API_VERSION } from '#api/meta.ts';
import { type Agent, shortName, type Task, type Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { RelayDesk } from '#guest/create-sessions.ts';
import { AgentisoError, ignoreNotFound, NotFoundError } from '#lib/errors.ts';
import type { Mail } from '#mail/mail.ts';
import type { Envelope, MessageType, TeamMessageParams } from '#protocol/relay.ts';

export interface RelayDeskDeps {
  readonly client: Client;
  readonly mail: Mail;
  readonly agentByUid: (uid: string) => Agent | undefined;
  /** Says to an agent, if it is connected, that there is mail; never waits. */
  readonly hint: (uid: string, nextSeq: number) => void;
}

export function createRelayDesk({ client, mail, agentByUid, hint }: RelayDeskDeps): RelayDesk {
  const caller = (uid: string): Agent => {
    const agent = agentByUid(uid);
    if (agent) return agent;
    throw new AgentisoError('FenceLost', 'this agent no longer exists');
  };
  return {
    async teamMessage(uid, params) {
      const sender = caller(uid);
      refuseType(sender, params.message_type ?? 'text');
      const recipient = await resolveRecipient(client, sender, params.to);
      const mailbox = await mail.open(recipient.metadata.uid);
      const { message_id } = await mailbox.append({
        namespace: sender.metadata.namespace,
        team: recipient.spec.team,
        to: shortName(recipient.spec.team, recipient.metadata.name),
        message_type: params.message_type ?? 'text',
        content: params.content,
        ...(await senderOf(client, sender, recipient, params)),
        ...(params.request_id !== undefined && { request_id: params.request_id }),
        ...(params.reply_to !== undefined && { reply_to: params.reply_to }),
      });
      hint(recipient.metadata.uid, mailbox.state.nextSeq);
      return { message_id, state: 'Accepted' };
    },
    async teamReceive(uid, { after, limit }) {
      const mailbox = await mail.open(caller(uid).metadata.uid);
      return { messages: withinFrame(mailbox.read({ after, limit })), nextSeq: mailbox.state.nextSeq };
    },
    async teamAck(uid, { storedSeq, seen }) {
      const mailbox = await mail.open(caller(uid).metadata.uid);
      await mailbox.markDelivered(storedSeq);
      return { unknown: seen.length === 0 ? [] : (await mailbox.ack(seen)).unknown };
    },
    async taskCreate(uid, { title, command, timeoutSeconds }) {
      const { metadata, spec } = caller(uid);
      const task = {
        apiVersion: API_VERSION,
        kind: 'Task',
        metadata: { generateName: `${spec.team}-`, namespace: metadata.namespace },
        spec: {
          team: spec.team,
          title,
          command,
          assignTo: shortName(spec.team, metadata.name),
          ...(timeoutSeconds !== undefined && { timeoutSeconds }),
        },
      };
      return { task: (await client.create<Task>(task as never)).metadata.name };
    },
  };
}

/** Orders come from the lead or the system; an assignment has a Task behind it, which no message can replace. */
function refuseType({ metadata, spec }: Agent, type: MessageType): void {
  const isLead = shortName(spec.team, metadata.name) === 'lead';
  const isOrder = type === 'shutdown_request' || type === 'plan_approval';
  if (type !== 'task_assignment' && (isLead || !isOrder)) return;
  const hint = type === 'task_assignment' ? 'create a Task instead' : 'ask the lead of the team';
  throw new AgentisoError('Forbidden', `an agent may not send a ${type}`, { hint });
}

/** As many as one answer carries, at least one; the guest asks for the rest. */
function withinFrame(messages: readonly Envelope[]): Envelope[] {
  let bytes = 0;
  const fits = messages.filter((message, index) => {
    bytes += Buffer.byteLength(JSON.stringify(message));
    return index === 0 || bytes <= ANSWER_BYTES;
  });
  return fits;
}

/** Well below what a frame holds. */
const ANSWER_BYTES = 3 * 1024 * 1024;

/**
 * A message that came in over the agent's own HTTP interface from a peer is handed on by the agent that received it. Its word is taken for
 * mail to itself only, and the mail says who handed it on.
 */
async function senderOf(client: Client, caller: Agent, recipient: Agent, { from, metadata }: TeamMessageParams) {
  const own = shortName(caller.spec.team, caller.metadata.name);
  const incarnation = caller.status?.incarnation;
  if (from === undefined || from === own) {
    return { from: own, ...(incarnation !== undefined && { from_incarnation: incarnation }), ...(metadata && { metadata }) };
  }
  if (recipient.metadata.uid !== caller.metadata.uid) {
    throw new AgentisoError('Forbidden', `agent ${own} may not send in the name of ${from}`, { hint: 'leave out from' });
  }
  const peer = await resolveRecipient(client, caller, from);
  return { from: addressOf(peer, caller), metadata: { ...metadata, relayed_by: own } };
}

function addressOf({ metadata, spec }: Agent, seenBy: Agent): string {
  const short = shortName(spec.team, metadata.name);
  return spec.team === seenBy.spec.team ? short : `${spec.team}/${short}`;
}

/** Of the own team by either name, or `<team>/<agent>` of the parent team or a direct sub-team. */
async function resolveRecipient(client: Client, sender: Agent, to: string): Promise<Agent> {
  const { namespace } = sender.metadata;
  const slash = to.indexOf('/');
  const team = slash < 0 ? sender.spec.team : to.slice(0, slash);
  const name = slash < 0 ? to : to.slice(slash + 1);
  if (team !== sender.spec.team && !(await areRelated(client, namespace, [sender.spec.team, team]))) {
    throw new AgentisoError('Forbidden', `team ${sender.spec.team} may not send to team ${team}`, {
      hint: 'messages go within a team, and between a team and its direct sub-teams',
    });
  }
  const found = (await agentNamed(client, namespace, `${team}-${name}`)) ?? (await agentNamed(client, namespace, name));
  if (found?.spec.team === team) return found;
  throw new NotFoundError(`there is no agent ${name} in team ${team}`);
}

async function areRelated(client: Client, namespace: string, [a = '', b = '']: readonly string[]): Promise<boolean> {
  const parentOf = async (name: string) => (await ignoreNotFound(client.get<Team>({ kind: 'Team', namespace, name })))?.spec.parent;
  return (await parentOf(a)) === b || (await parentOf(b)) === a;
}

function agentNamed(client: Client, namespace: string, name: string): Promise<Agent | undefined> {
  return ignoreNotFound(client.get<Agent>({ kind: 'Agent', namespace, name }));
}
