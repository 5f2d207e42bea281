/** Claims by hand: one compare-and-swap on the Task, by the rules of assignment, with a place taken on the board before it is written. */
import { setTimeout as delay } from 'node:timers/promises';
import { referencesOf, render } from '#api/task-template.ts';
import { type Agent, shortName, type Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { AgentisoError, ConflictError, ignoreNotFound, isCode, UnavailableError } from '#lib/errors.ts';
import type { TaskBook, TaskReference } from '#relay/task-book.ts';
import type { WithStatus } from '#runtime/controller.ts';
import { ownerOf } from './attending.ts';
import type { Board } from './board.ts';
import {
  agentOf,
  type BookDeps,
  changeTask,
  findTask,
  isInCharge,
  isOwnedBy,
  nowOf,
  type Principal,
  placeOf,
  quietMoment,
  refuseStranger,
  shortOf,
  type TaskWord,
  withStatus,
  wordOf,
} from './book-desk.ts';
import { isFinished, isHeld, isVerifying, needsPlan, turnOf } from './card.ts';
import { type Obstacle, obstacleFor, whyNotFor } from './decide.ts';
import { awaitsRelease } from './plan-hold.ts';
import { deadlineOf, showMaker } from './request.ts';
import { claim, handBack } from './transitions.ts';

type ClaimResult = Awaited<ReturnType<TaskBook['claim']>>;

/** Each time somebody else came in between; then there is something new to read. */
const TRIES = 100;
/** For a claim that is on its way: a write that takes longer has met a disk that is full or gone. */
const SETTLE_MS = 5_000;
const WRITABLE_LOOK_MS = 50;

export async function claimByHand(deps: BookDeps, principal: Principal, reference: TaskReference): Promise<ClaimResult> {
  const { agent, incarnation } = agentOf(principal, 'claim');
  const place = placeOf(principal, reference);
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const board = await deps.boards.ofTeam(place.namespace, place.team);
    const claimant = await presentRun(deps, agent, incarnation);
    const task = await findTask(deps.client, place, reference.task);
    const answer = await tryClaim(deps, principal, { task, board, claimant });
    if (answer) return answer;
  }
  throw new UnavailableError(`Task ${reference.task} is being changed all the time; try again`);
}

async function presentRun({ client }: BookDeps, { metadata }: Agent, incarnation: string): Promise<Agent> {
  const { namespace, name, uid } = metadata;
  const agent = await ignoreNotFound(client.get<Agent>({ kind: 'Agent', namespace, name }));
  if (agent?.metadata.uid === uid && agent.status?.incarnation === incarnation) return agent;
  throw new AgentisoError('FenceLost', `this run of agent ${name} is over`);
}

interface Trial {
  readonly task: Task;
  readonly board: Board;
  readonly claimant: Agent;
}

/** Undefined: somebody was in the way; read again. Until the claim is on the board nothing waits, so that no place is given twice. */
async function tryClaim(deps: BookDeps, principal: Principal, { task, board, claimant }: Trial): Promise<ClaimResult | undefined> {
  const { name } = task.metadata;
  if (isHeld(task) && isOwnedBy(task, principal) && task.status?.claim === 'Pulled') return wonAnswer(task, deps);
  if (isHeld(task) || isFinished(task)) return lostAnswer(task);
  if (board.isBeingClaimed(name)) {
    await inTime(board.claimSettled(name), name);
    return undefined;
  }
  // Before the controller has come to say so.
  if ((deadlineOf(task) ?? Number.POSITIVE_INFINITY) <= nowOf(deps).getTime())
    return { claimed: false, message: 'it has expired', task: shortOf(task) };
  refuse(task, claimant, { board, deps });
  const copy = withStatus(task);
  const { moment, publish } = quietMoment(deps);
  // The controller may not have come by yet.
  showMaker(copy);
  claim(copy, claimant, 'Pulled', moment);
  if (!board.claim(turnOf(task), claimant, copy.status.attempt ?? 0, 'book')) return undefined;
  try {
    await setAside(copy, claimant, deps);
    const stored = await deps.client.updateStatus<Task>({ ...task, status: copy.status });
    deps.boards.stored(stored);
    publish(stored);
    return await wonAnswer(stored, deps);
  } catch (error) {
    board.unclaim(name, 'book');
    // The controller has looked away while this was on its way.
    deps.boards.poke(task);
    if (isCode(error, 'Conflict')) return undefined;
    throw error;
  }
}

/** Its place is taken already: nobody else comes to it while this waits. */
async function setAside(task: WithStatus<Task>, { metadata }: Agent, deps: BookDeps): Promise<void> {
  const verdict = await deps.budgets?.reserve(task, metadata.name, nowOf(deps));
  if (verdict)
    throw new AgentisoError('QuotaExceeded', `task ${shortOf(task)} cannot be claimed: ${verdict.message}`, { reason: verdict.reason });
}

async function inTime(settled: Promise<void>, name: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_resolve, reject) => {
    const error = new UnavailableError(`Task ${name} is being claimed, and it takes long; try again`);
    timer = setTimeout(() => reject(error), SETTLE_MS);
  });
  await Promise.race([settled, tooLong]).finally(() => clearTimeout(timer));
}

/** A race that is lost is no error. */
function lostAnswer(task: Task): ClaimResult {
  const { owner, reason, phase } = task.status ?? {};
  const winner = owner === undefined ? undefined : shortName(task.spec.team, owner);
  const over = `it is over: ${phase === 'Succeeded' ? `${winner ?? 'somebody'} has done it` : reason}`;
  return {
    claimed: false,
    message: isHeld(task) ? `${winner} has it` : over,
    task: shortOf(task),
    ...(winner !== undefined && { winner }),
  };
}

/** An owner that plans something else as well may be kept from writing until its controller has heard of this one. Not for ever: it is told either way. */
async function untilWritable(task: Task, client: BookDeps['client']): Promise<void> {
  for (let waitedMs = 0; waitedMs < SETTLE_MS; waitedMs += WRITABLE_LOOK_MS) {
    if (!awaitsRelease(task, await ownerOf(task, client))) return;
    await delay(WRITABLE_LOOK_MS);
  }
}

/** Also to a run that has won before and asks again. */
async function wonAnswer(task: Task, { client }: BookDeps): Promise<ClaimResult> {
  const { spec, status } = task;
  const { attempt = 0, fencingToken = 0 } = status ?? {};
  const what = spec.command ?? (await promptOf(client, task));
  await untilWritable(task, client);
  return {
    claimed: true,
    message: needsPlan(task) ? 'it is yours; submit a plan first' : 'it is yours',
    task: shortOf(task),
    title: spec.title ?? shortOf(task),
    description: [spec.description, what].filter((text) => typeof text === 'string').join('\n\n'),
    attempt,
    fencing_token: fencingToken,
  };
}

/** With the outputs of the Tasks it depends on. One whose references cannot be put in is told as it stands: whoever reads it can tell. */
async function promptOf(client: Client, task: Task): Promise<string> {
  const { prompt } = task.spec;
  const place = { namespace: task.metadata.namespace, team: task.spec.team };
  const names = new Set(referencesOf(task.spec).map((reference) => reference.task));
  if (names.size === 0) return prompt ?? '';
  try {
    return render(task, await Promise.all([...names].map((name) => findTask(client, place, name)))).prompt ?? '';
  } catch (error) {
    if (error instanceof AgentisoError) return prompt ?? '';
    throw error;
  }
}

function refuse(task: Task, agent: Agent, { board, deps }: { readonly board: Board; readonly deps: BookDeps }): void {
  const by = task.spec.request?.by;
  if (by !== undefined && agent.metadata.name === `${task.spec.team}-${by}`) {
    throw new AgentisoError('Forbidden', `request ${shortOf(task)} is your own`, { hint: 'others claim what you ask for' });
  }
  if (task.metadata.deletionTimestamp !== undefined) throw new ConflictError(`task ${shortOf(task)} is being deleted`);
  // The controller settles it at this moment: what it may use next depends on that.
  if (task.status?.budget?.reserved !== undefined) throw new UnavailableError(`task ${shortOf(task)} is being settled; try again`);
  const obstacle = obstacleFor(task, board, { now: nowOf(deps), canVerify: deps.canVerify });
  const why = obstacle ? inWords(obstacle) : whyNotFor(task, agent, board);
  if (why !== undefined) throw new ConflictError(`task ${shortOf(task)} cannot be claimed: ${why}`, { reason: obstacleReason(obstacle) });
}

function obstacleReason(obstacle: Obstacle | undefined): string {
  return obstacle && 'reason' in obstacle ? obstacle.reason : 'NotClaimable';
}

function inWords(obstacle: Obstacle): string {
  switch (obstacle.step) {
    case 'fail':
      return `${obstacle.reason}: ${obstacle.message}`;
    case 'block':
      return `${obstacle.reason}: it waits for ${obstacle.blockedBy.join(', ')}`;
    case 'pause':
      return `its last attempt failed; it can be had in ${Math.ceil(obstacle.delayMs / 1_000)} s`;
    case 'hold':
      return 'PlanTimeout: it waits for a word on its plan';
    case 'restart':
    case 'done':
      return 'it is over';
  }
}

/** Claimed → Pending, by the owner, the lead or people. What runs is not given back but cancelled or assigned to somebody else. */
export function releaseByHand(deps: BookDeps, principal: Principal, reference: TaskReference): Promise<TaskWord> {
  return changeTask(deps, principal, reference, (task, moment) => {
    if (!isInCharge(principal) || isOwnedBy(task, principal)) refuseStranger(task, principal);
    if (!isHeld(task)) throw new ConflictError(`task ${shortOf(task)} is not claimed: it is ${task.status.phase ?? 'Pending'}`);
    if (task.status.phase === 'Running' || isVerifying(task)) throw inWork(task);
    // The assignment may be on its way to the agent already.
    if (task.status.claim !== 'Pulled' && !needsPlan(task)) throw inWork(task);
    handBack(task, { reason: 'Released', message: `${task.status.owner} has given it back` }, moment);
    return wordOf(task);
  });
}

function inWork(task: Task): ConflictError {
  return new ConflictError(`task ${shortOf(task)} is in work on ${task.status?.owner}`, {
    hint: 'say that it failed, or have it assigned to somebody else or cancelled',
  });
}
