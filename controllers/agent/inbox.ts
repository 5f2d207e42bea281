/** The agent's inbox, and what it says it does, in its status. */
import type { Agent } from '#api/types.ts';
import { type ConditionInput, getCondition, setCondition } from '#runtime/conditions.ts';
import type { WithStatus } from '#runtime/controller.ts';
import type { AgentDeps, InboxView } from './deps.ts';

const FULL = 'InboxFull';

export async function showInbox(agent: WithStatus<Agent>, { inbox }: AgentDeps, now: Date): Promise<void> {
  const view = await inbox?.look(agent);
  if (!view) return;
  const { nextSeq, ackedSeq, unacked, oldestUnackedAt = null, deadLetters } = view.mailbox;
  agent.status = {
    ...agent.status,
    messagesPending: unacked,
    mailbox: { nextSeq, ackedSeq, unacked, oldestUnackedAt, deadLetters },
    ...(view.progress && { progress: { ...view.progress } }),
    ...(view.lastActivity !== undefined && { lastActivity: view.lastActivity }),
  };
  // An inbox that was never full is not worth a line.
  if (view.isFull || getCondition(agent, FULL)) setCondition(agent, fullCondition(view), now);
}

export function fullCondition({ isFull, mailbox }: InboxView): ConditionInput {
  if (!isFull) return { type: FULL, status: 'False', reason: 'HasRoom', message: '' };
  const message = `${mailbox.unacked} messages are not acknowledged; further ones are refused until one is`;
  return { type: FULL, status: 'True', reason: 'TooManyUnacked', message };
}
