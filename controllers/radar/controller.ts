/**
 * Radar: says on an Agent, and to it, with whose branch its own would not fit, long before anybody merges them. Owns the condition
 * ConflictsWith, which is there only while it is True, and status.conflicts, which says the same to programs.
 */
import { createHash } from 'node:crypto';
import type { KindObject } from '#api/meta.ts';
import { type Agent, shortName, type Team } from '#api/types.ts';
import { ignoreNotFound } from '#lib/errors.ts';
import { getCondition, setCondition } from '#runtime/conditions.ts';
import type { Controller, Key, ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';
import type { Clash, RadarDeps } from './deps.ts';

const CONDITION = 'ConflictsWith';
/** Agents change often, their branches rarely. */
const DELAY_MS = 1_000;

export function radarController(deps: RadarDeps): Controller<Agent> {
  const mates = new Mates();
  return {
    name: 'radar',
    kind: 'Agent',
    failureCondition: false,
    concurrency: 2,
    // Most agents most of the time, and their status changes all the time.
    isAtRest: hasNothing,
    watches: [{ kind: 'Agent', toKeys: (agent, type) => mates.concernedBy(agent as Agent, type === 'DELETED'), delayMs: DELAY_MS }],
    reconcile: (agent, ctx) => reconcileAgent(agent, deps, ctx),
  };
}

async function reconcileAgent(agent: WithStatus<Agent>, deps: RadarDeps, ctx: ReconcileContext): Promise<Result> {
  const clashes = (await clashesOf(agent, deps, ctx.signal)).map((clash) => ({ ...clash, text: describe(agent, clash) }));
  const before = getCondition(agent, CONDITION)?.message ?? '';
  if (clashes.length === 0) {
    if (before !== '') remove(agent);
    delete agent.status.conflicts;
    return {};
  }
  agent.status.conflicts = clashes.map(({ other, files }) => ({ agent: other, files: pathsOf(files) }));
  const message = clashes.map(({ text }) => text).join('; ');
  for (const clash of clashes.filter(({ text }) => !before.split('; ').includes(text))) await tell(agent, clash, deps);
  if (before === '') ctx.events.warning(agent, 'BranchesConflict', message);
  setCondition(agent, { type: CONDITION, status: 'True', reason: 'BranchesConflict', message: message.slice(0, MAX_MESSAGE) }, ctx.now());
  return {};
}

const MAX_MESSAGE = 4_096;
/** A status is read by people and goes through the journal with every change. */
const MAX_FILES = 100;

/** A path that does not fit in two ways is one path. */
function pathsOf(files: Clash['files']): string[] {
  return [...new Set(files.map(({ path }) => path))].slice(0, MAX_FILES);
}

interface Found extends Clash {
  readonly other: string;
  /** Both commits, in the same order whoever looks. */
  readonly state: string;
}

async function clashesOf(agent: WithStatus<Agent>, { client, repositories, radar }: RadarDeps, signal: AbortSignal): Promise<Found[]> {
  const { namespace } = agent.metadata;
  if (!isLive(agent)) return [];
  const { items } = await client.list<Agent>('Agent', { namespace, fieldSelector: `spec.team=${agent.spec.team}` });
  const heads = new Map(items.filter(isLive).map((each) => [shortOf(each), each.status?.git?.head ?? '']));
  if (heads.size < 2) return [];
  const team = await ignoreNotFound(client.get<Team>({ kind: 'Team', namespace, name: agent.spec.team }));
  const repository = team && (await repositories.find(team.metadata.uid));
  if (!repository) return [];
  const found = await radar.lookAt(shortOf(agent), heads, { directory: repository.directory, signal });
  return found.map((clash) => ({
    ...clash,
    other: clash.between.find((name) => name !== shortOf(agent)) ?? '',
    state: clash.between
      .map((name) => heads.get(name))
      .sort()
      .join(' '),
  }));
}

/** It has commits of its own, and will have more. */
function isLive({ metadata, status }: Agent): boolean {
  const { head, forkBase } = status?.git ?? {};
  return metadata.deletionTimestamp === undefined && head !== undefined && head !== forkBase;
}

/** Neither a branch of its own nor anything that was said about one. */
function hasNothing(agent: Agent): boolean {
  return !isLive(agent) && agent.status?.conflicts === undefined && getCondition(agent, CONDITION) === undefined;
}

function shortOf({ metadata, spec }: Agent): string {
  return shortName(spec.team, metadata.name);
}

const MAX_NAMED = 5;

/** Without the commits: the next one that changes nothing about it is no news. */
function describe(agent: Agent, { between, files }: Clash): string {
  const other = between.find((name) => name !== shortOf(agent)) ?? '';
  const named = files.slice(0, MAX_NAMED).map(({ path, kind }) => `${path.replaceAll(';', ',')} (${kind})`);
  const more = files.length - named.length;
  return `${other}: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The same two commits are told of once, also by a daemon that was ended before it could write the condition. */
async function tell(
  { metadata, spec }: Agent,
  { other, text, state }: Found & { readonly text: string },
  { notices }: RadarDeps,
): Promise<void> {
  const digest = createHash('sha256').update(`${text}\n${state}`).digest('hex').slice(0, 16);
  await notices.tell({
    namespace: metadata.namespace,
    team: spec.team,
    to: shortName(spec.team, metadata.name),
    type: 'task_update',
    content: `Your branch does not fit with that of ${text}. Agree with ${other} on who changes what, or bring its commits into yours, before a merge has to fail.`,
    metadata: { conflictsWith: other },
    key: `radar/${metadata.uid}/${digest}`,
  });
}

function remove(agent: WithStatus<Agent>): void {
  const conditions = (agent.status.conditions ?? []).filter(({ type }) => type !== CONDITION);
  agent.status = { ...agent.status, conditions };
}

/** Who has to look again when a branch has moved. */
class Mates {
  /** By team: the keys of its agents, and where their branches are. */
  readonly #teams = new Map<string, Map<string, { readonly key: Key; readonly head: string | undefined }>>();

  /** Everybody of the team when the branch is another, or its agent is gone; otherwise nobody. */
  concernedBy(agent: Agent, isGone: boolean): readonly Key[] {
    const { namespace, uid } = agent.metadata;
    const id = `${namespace}/${agent.spec.team}`;
    const team = this.#teams.get(id) ?? new Map();
    this.#teams.set(id, team);
    const head = isLive(agent) && !isGone ? agent.status?.git?.head : undefined;
    const known = team.get(uid);
    if (isGone) team.delete(uid);
    else team.set(uid, { key: keyOfAgent(agent), head });
    if (team.size === 0) this.#teams.delete(id);
    return known?.head === head ? [] : [...team.values()].map(({ key }) => key);
  }
}

function keyOfAgent({ kind, metadata: { namespace, name } }: KindObject): Key {
  return { kind, namespace, name };
}
