/** What every entry in the book has in common: who speaks, which Task is meant, and a change that is on disk before it is answered. */
import { type Agent, shortName, type Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { AgentisoError, ConflictError, ignoreNotFound, isCode, NotFoundError, UnavailableError } from '#lib/errors.ts';
import { copyJson, equalJson } from '#lib/json.ts';
import type { TaskBook, TaskReference } from '#relay/task-book.ts';
import type { EventRecorder, WithStatus } from '#runtime/controller.ts';
import type { Boards } from './boards.ts';
import type { Budgets } from './budgets.ts';
import { isHeld } from './card.ts';
import type { Moment } from './transitions.ts';

export type Principal = Parameters<TaskBook['claim']>[0];
export type TaskWord = Awaited<ReturnType<TaskBook['release']>>;

export interface BookDeps {
  readonly client: Client;
  /** The same as the controller's: both take places of agents. */
  readonly boards: Boards;
  readonly events: EventRecorder;
  /** The same as the controller's. Absent: nothing is set aside. */
  readonly budgets?: Budgets;
  /** Whether the controller has a verifier. */
  readonly canVerify: boolean;
  readonly now?: () => Date;
}

export function nowOf({ now = () => new Date() }: BookDeps): Date {
  return now();
}

/** Others write the same object all the time; one that never gets through has met something else. */
const TRIES = 50;

/** Reads, changes and writes until nobody came in between. `change` may be called again; nobody hears of what was not written. */
export async function changeTask<T>(
  deps: BookDeps,
  principal: Principal,
  reference: TaskReference,
  change: (task: WithStatus<Task>, moment: Moment) => T,
): Promise<T> {
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const task = await findTask(deps.client, placeOf(principal, reference), reference.task);
    const copy = withStatus(task);
    const { moment, publish } = quietMoment(deps);
    const answer = change(copy, moment);
    if (equalJson(task.status ?? {}, copy.status)) return answer;
    try {
      deps.boards.stored(await deps.client.updateStatus<Task>({ ...task, status: copy.status }));
      publish(copy);
      return answer;
    } catch (error) {
      if (!isCode(error, 'Conflict')) throw error;
    }
  }
  throw new UnavailableError(`Task ${reference.task} is being changed all the time; try again`);
}

/** Events are for what has happened, which is known only once it is written. */
export function quietMoment(deps: BookDeps): { moment: Moment; publish: (task: Task) => void } {
  const recorded: ['normal' | 'warning', string, string][] = [];
  const moment: Moment = {
    now: () => nowOf(deps),
    events: {
      normal: (_task, reason, message) => void recorded.push(['normal', reason, message]),
      warning: (_task, reason, message) => void recorded.push(['warning', reason, message]),
    },
  };
  return {
    moment,
    publish: (task) => {
      for (const [type, reason, message] of recorded) deps.events[type](task, reason, message);
    },
  };
}

export function withStatus(task: Task): WithStatus<Task> {
  const copy = copyJson(task);
  return { ...copy, status: copy.status ?? {} };
}

type Place = Pick<TaskReference, 'namespace' | 'team'>;

/** An agent's own team is meant, whatever it says. */
export function placeOf(principal: Principal, { namespace, team }: Place): Place {
  if (principal.kind !== 'agent') return { namespace, team };
  return { namespace: principal.agent.metadata.namespace, team: principal.agent.spec.team };
}

export function speakerName(principal: Principal): string {
  if (principal.kind === 'agent') return shortName(principal.agent.spec.team, principal.agent.metadata.name);
  return principal.kind === 'operator' ? 'orchestrator' : 'system';
}

/** By full or short name. */
export async function findTask(client: Client, { namespace, team }: Place, name: string): Promise<Task> {
  for (const called of [name, `${team}-${name}`]) {
    const task = await ignoreNotFound(client.get<Task>({ kind: 'Task', namespace, name: called }));
    if (task?.spec.team === team) return task;
  }
  throw new NotFoundError(`team ${team} has no task ${name}`);
}

export function agentOf(principal: Principal, what: string): { readonly agent: Agent; readonly incarnation: string } {
  if (principal.kind === 'agent') return principal;
  throw new AgentisoError('Forbidden', `only an agent can ${what} a task`, { hint: 'agentiso assign, cancel and retry are for people' });
}

/** Whoever leads the team, or runs it. */
export function isInCharge(principal: Principal): boolean {
  return principal.kind !== 'agent' || speakerName(principal) === 'lead';
}

/** The claim is this very run's: of another run, or after it was taken away, nothing counts. */
export function isOwnedBy({ status }: Task, principal: Principal): boolean {
  if (principal.kind !== 'agent') return false;
  return status?.owner === principal.agent.metadata.name && status.ownerIncarnation === principal.incarnation;
}

export function refuseStranger(task: Task, principal: Principal): void {
  if (isHeld(task) && isOwnedBy(task, principal)) return;
  const { owner, attempt = 0, phase = 'Pending' } = task.status ?? {};
  const who = isHeld(task) && owner !== undefined ? `${owner} has it, attempt ${attempt}` : `it is ${phase}`;
  throw new AgentisoError('FenceLost', `task ${shortOf(task)} is not yours any more: ${who}`, {
    hint: 'stop working on it; claim it again if it is open',
  });
}

/** What the controller carries to the agent ends by its command, and by nothing that is said. */
export function refuseAssigned(task: Task): void {
  if (task.status?.claim === 'Pulled') return;
  throw new ConflictError(`task ${shortOf(task)} was assigned: it ends with its command`, { hint: 'exit with 0 when it is done' });
}

export function refuseUnplanned(task: Task): AgentisoError {
  return new AgentisoError('Forbidden', `task ${shortOf(task)} needs an approved plan before work starts`, {
    hint: 'submit a plan and wait for the plan_approval',
  });
}

export function shortOf({ metadata, spec }: Task): string {
  return shortName(spec.team, metadata.name);
}

/** As agents and people say it. */
export function wordOf({ status }: Task): TaskWord {
  switch (status?.phase) {
    case 'Claimed':
      return 'claimed';
    case 'Running':
      return 'in_progress';
    case 'Blocked':
      return 'blocked';
    case 'Succeeded':
      return 'completed';
    case 'Failed':
      return 'failed';
    default:
      return 'pending';
  }
}

export function refuseLong(what: string, text: string | undefined, maxBytes: number): void {
  if (Buffer.byteLength(text ?? '') <= maxBytes) return;
  throw new AgentisoError('TooLarge', `${what} has ${Buffer.byteLength(text ?? '')} bytes; at most ${maxBytes} are taken`);
}
