/** Who may say what to whom: the types of messages. Pure. */
import { AgentisoError, type ErrorCode } from '#lib/errors.ts';
import { MESSAGE_TYPES, type MessageType } from '#protocol/relay.ts';

export interface Saying {
  readonly type: MessageType;
  /** `lead`: the agent that leads the speaker's own team. */
  readonly by: 'agent' | 'lead' | 'operator' | 'system';
  readonly to: 'agent' | 'people' | 'everybody';
  /** The inbox is that of whoever leads the speaker's team. */
  readonly isToLead: boolean;
  /** The inbox belongs to the speaker's own team. */
  readonly isWithinTeam: boolean;
}

export function defaultType(isToEverybody: boolean): MessageType {
  return isToEverybody ? 'broadcast' : 'text';
}

const TO_EVERYBODY: ReadonlySet<MessageType> = new Set<MessageType>(['broadcast', 'request', 'nudge', 'status_update', 'shutdown_request']);

const TO_LEAD: ReadonlySet<MessageType> = new Set<MessageType>(['status_update', 'shutdown_response', 'plan_submission']);

/** Whether it matters for this type who leads. */
export function isForLead(type: MessageType): boolean {
  return TO_LEAD.has(type);
}

/** Throws Invalid for what makes no sense, Forbidden for what somebody else may say. */
export function refuseSaying(saying: Saying): void {
  const problem = (saying.to === 'everybody' ? everybodyProblem(saying) : undefined) ?? typeProblem(saying);
  if (problem) throw new AgentisoError(problem.code, problem.message, { hint: problem.hint });
}

interface Problem {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
}

function everybodyProblem({ type }: Saying): Problem | undefined {
  if (TO_EVERYBODY.has(type)) return undefined;
  return invalid(`a ${type} cannot go to everybody`, `only ${listed((word) => TO_EVERYBODY.has(word))} may go to *`);
}

function typeProblem(saying: Saying): Problem | undefined {
  const { type, by, to, isToLead } = saying;
  switch (type) {
    case 'text':
    case 'task_update':
    case 'request':
    case 'response':
    case 'nudge':
      return undefined;
    case 'broadcast':
      return to === 'everybody' ? undefined : invalid('a broadcast goes to everybody', 'write to *, or send a text');
    case 'status_update':
      return statusProblem(saying);
    case 'shutdown_request':
    case 'plan_approval':
      return orderProblem(saying);
    case 'shutdown_response':
    case 'plan_submission':
      if (by !== 'agent' && by !== 'lead') return forbidden(`a ${type} comes from an agent`, 'send a text');
      return isToLead ? undefined : invalid(`a ${type} goes to the lead`, 'write to lead');
    case 'task_assignment':
      return by === 'system' ? undefined : forbidden('a task_assignment cannot be written by hand', 'create a Task instead');
  }
}

function statusProblem({ by, to, isToLead }: Saying): Problem | undefined {
  if (by !== 'agent' && by !== 'lead') return forbidden('a status_update comes from an agent', 'send a text');
  return isToLead || to === 'everybody' ? undefined : invalid('a status_update goes to the lead or to everybody', 'write to lead or to *');
}

/** Orders come from whoever leads, and stay in the team: a sub-team has a lead of its own. */
function orderProblem({ type, by, to, isWithinTeam }: Saying): Problem | undefined {
  if (by === 'agent') return forbidden(`an agent may not send a ${type}`, 'ask the lead of the team');
  if (to === 'people') return invalid(`a ${type} goes to an agent`, 'write to an agent of the team');
  return isWithinTeam ? undefined : forbidden(`a ${type} goes to agents of the own team`, 'ask the lead of that team');
}

function invalid(message: string, hint: string): Problem {
  return { code: 'Invalid', message, hint };
}

function forbidden(message: string, hint: string): Problem {
  return { code: 'Forbidden', message, hint };
}

function listed(isMeant: (type: MessageType) => boolean): string {
  return MESSAGE_TYPES.filter(isMeant).join(', ');
}
