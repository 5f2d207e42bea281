/**
 * The work of agents, from their workspaces to their team's repository and back. Only the guest reads what an agent has written; what it sends
 * is taken in by the git room, under refs that belong to this agent.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Agent, shortName, type Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { AgentWork, Collected } from '#controllers/merge/deps.ts';
import { agentBranch, BASE_REFS, branchRef, keptRef, rescueRef, SOURCE_REFS, wipRef } from '#git/refs.ts';
import type { TeamRepositories, TeamRepository } from '#git/team-repository.ts';
import type { Session, Sessions } from '#guest/sessions.ts';
import { ignoreNotFound, isCode } from '#lib/errors.ts';
import { timeLimit } from '#lib/time-limit.ts';
import type { GitExportResult } from '#protocol/control.ts';
import { awaitSession } from './await-session.ts';

const EXPORT_MS = 120_000;
/** The last time it may take as long as it takes, within reason: otherwise it would be lost. */
const RESCUE = { timeMs: 1_800_000, maxBytes: 64 * 1024 ** 3 };
const EXPORTED = 'refs/agentiso/export/';

export interface WorkDeps {
  readonly client: Client;
  readonly repositories: TeamRepositories;
  readonly sessions: Pick<Sessions, 'get' | 'onChange'>;
  /** How long an agent that runs may take to be reached; 10 s when absent. */
  readonly patienceMs?: number;
}

interface InRepository {
  /** Absent where the agent has no commit; also while its branch is refused. */
  readonly head?: string;
  readonly wip?: string;
  /** Everything that came, by its ref here. */
  readonly refs: Readonly<Record<string, string>>;
  readonly exported: GitExportResult;
}

/** What is in the team's repository now, of one agent. */
export interface Saved extends InRepository {
  readonly state: 'saved';
}

/** The branch did not move; the rest is there. */
export interface Refused extends InRepository {
  readonly state: 'refused';
  readonly reason: string;
  readonly message: string;
}

export type SaveOutcome = Saved | Refused;

export interface SaveOptions {
  readonly path?: string;
  readonly withUncommitted: boolean;
  readonly isFinal?: boolean;
  /**
   * It is the last time. What looks like a key is kept as well: nothing goes where it would be published from. The word tells several workspaces
   * of one agent apart.
   */
  readonly rescueFrom?: string;
  readonly signal?: AbortSignal;
}

export async function repositoryOf(team: Team, repositories: TeamRepositories): Promise<TeamRepository> {
  const { uid, namespace, name } = team.metadata;
  const { repo } = team.spec;
  const source = {
    ...(repo?.path != null && { path: repo.path }),
    ...(repo?.url != null && { url: repo.url }),
    ...(repo?.ref !== undefined && { ref: repo.ref }),
  };
  return repositories.open({ uid, namespace, name, source });
}

/** Over this session; rejects with Unavailable when the guest cannot be asked. */
export async function saveWork(
  agent: Agent,
  session: Pick<Session, 'open'>,
  repository: TeamRepository,
  options: SaveOptions,
): Promise<SaveOutcome> {
  const { path = '/workspace', withUncommitted, isFinal = false, rescueFrom } = options;
  const deadlineMs = rescueFrom === undefined ? EXPORT_MS : RESCUE.timeMs;
  const signal = AbortSignal.any([timeLimit(deadlineMs), ...(options.signal ? [options.signal] : [])]);
  const known = await knownRefs(agent, repository);
  const have = [...new Set(known.values())].slice(0, MAX_KNOWN);
  const call = session.open('gitExport', { path, withUncommitted, isFinal, have }, { signal, deadlineMs });
  const refs = refsOf(agent, rescueFrom);
  const isRescue = rescueFrom !== undefined;
  const [exported] = await Promise.all([call.result, takeIn(call.down.bundle, agent, { refs, repository, isRescue, signal })]);
  const wanted = Object.fromEntries(Object.entries(exported.refs).map(([name, commit]) => [refs(name), commit]));
  const isKnown = Object.entries(wanted).every(([ref, commit]) => known.get(ref) === commit);
  const adopted = isKnown ? { state: 'received' as const } : await repository.adopt(wanted, { mayHoldSecrets: isRescue });
  // What the agent has committed or dropped since the last time; of one folder among several nothing is known about the others.
  if (withUncommitted && options.path === undefined && !isRescue) await dropStale(agent, repository, { known, wanted });
  const wip = exported.refs[`${EXPORTED}wip`];
  const saved = { refs: wanted, exported, ...(wip !== undefined && { wip }) };
  if (adopted.state === 'refused') return { ...saved, state: 'refused', reason: adopted.reason, message: adopted.message };
  return { ...saved, state: 'saved', ...(exported.head !== undefined && { head: exported.head }) };
}

interface Stale {
  readonly known: ReadonlyMap<string, string>;
  readonly wanted: Readonly<Record<string, string>>;
}

async function dropStale({ metadata: { uid } }: Agent, repository: TeamRepository, { known, wanted }: Stale): Promise<void> {
  const isOwn = (ref: string) => ref === wipRef(uid) || ref.startsWith(`${keptRef(uid)}/`);
  const stale = [...known.keys()].filter((ref) => isOwn(ref) && wanted[ref] === undefined);
  await repository.update(stale.map((ref) => ({ ref, to: undefined })));
}

interface Taking {
  readonly refs: (exported: string) => string;
  readonly repository: TeamRepository;
  readonly isRescue: boolean;
  readonly signal: AbortSignal;
}

/** Undefined: the guest had nothing to send. */
async function takeIn(bundle: Readable, agent: Agent, { refs, repository, isRescue, signal }: Taking) {
  const [first] = await firstOf(bundle);
  if (first === undefined) return undefined;
  const whole = Readable.from(joined(first, bundle));
  const refOf = (ref: string) => (ref.startsWith(EXPORTED) ? refs(ref) : undefined);
  const delivery = { agentUid: agent.metadata.uid, refOf, mayHoldSecrets: isRescue, ...(isRescue && { maxBytes: RESCUE.maxBytes }) };
  return repository.receive(whole, delivery, signal);
}

async function firstOf(stream: Readable): Promise<[Buffer] | []> {
  const chunk = (await stream.iterator({ destroyOnReturn: false }).next()) as IteratorResult<Buffer>;
  return chunk.done ? [] : [chunk.value];
}

async function* joined(first: Buffer, rest: Readable): AsyncIterable<Buffer> {
  yield first;
  yield* rest as AsyncIterable<Buffer>;
}

/** Where what comes out of a workspace belongs. */
function refsOf({ metadata, spec }: Agent, rescueFrom: string | undefined): (exported: string) => string {
  return (exported) => {
    const name = flat(exported.slice(EXPORTED.length));
    if (rescueFrom !== undefined) return `${keptRef(metadata.uid)}/rescue-${rescueFrom}/${name}`;
    if (name === 'head') return branchRef(agentBranch(spec.team, shortName(spec.team, metadata.name)));
    return name === 'wip' ? wipRef(metadata.uid) : `${keptRef(metadata.uid)}/${name}`;
  };
}

/** The branch `a` may be gone and `a/b` be there: as files of one folder they would stand in each other's way. */
function flat(name: string): string {
  return name.startsWith('branches/') ? `branches/${encodeURIComponent(name.slice('branches/'.length))}` : name;
}

const MAX_KNOWN = 1_000;

/** Its own come first: they have most of what it has. */
async function knownRefs({ metadata: { uid } }: Agent, repository: TeamRepository): Promise<ReadonlyMap<string, string>> {
  const own = [wipRef(uid), keptRef(uid), rescueRef(uid)];
  const found = await repository.refs(...own, BASE_REFS, SOURCE_REFS, 'refs/heads', 'refs/tags');
  const isOwn = (ref: string) => own.some((prefix) => ref.startsWith(prefix));
  return new Map([...found].sort(([a], [b]) => Number(isOwn(b)) - Number(isOwn(a))));
}

/** For the merge controller. */
export function agentWork({ client, repositories, sessions, ...waiting }: WorkDeps): AgentWork {
  const repositoryFor = async (agent: Agent): Promise<TeamRepository | undefined> => {
    const { namespace } = agent.metadata;
    const team = await ignoreNotFound(client.get<Team>({ kind: 'Team', namespace, name: agent.spec.team }));
    return team && repositoryOf(team, repositories);
  };
  return {
    async collect(agent, path, signal) {
      const repository = await repositoryFor(agent);
      if (!repository) return { state: 'failed', reason: 'TeamNotFound', message: `there is no team ${agent.spec.team}` };
      const session = await awaitSession(agent, sessions, { signal, ...waiting });
      if (!session) return lastSaved(agent, repository);
      return collectNow(agent, session, { repository, path, signal }).catch((error: unknown) => {
        if (!isCode(error, 'Unavailable')) throw error;
        return lastSaved(agent, repository);
      });
    },
    async target(agent, { path, branch }, signal) {
      const session = sessions.get(agent.metadata.uid);
      if (!session?.state.isControlOpen) return { problem: 'TargetNotReady', message: `agent ${agent.metadata.name} does not run` };
      const call = session.open('gitExport', { path, withUncommitted: false, isFinal: false, have: [] }, { signal, deadlineMs: EXPORT_MS });
      call.down.bundle.resume();
      const found = await call.result;
      const name = branch ?? found.branch;
      if (!found.isRepository) return { problem: 'NotARepository', message: `${path} of ${agent.metadata.name} is no git repository` };
      if (name === undefined)
        return { problem: 'DetachedHead', message: `${agent.metadata.name} has no branch checked out; name one in target.branch` };
      const repository = await repositoryFor(agent);
      const commit = found.branches[name];
      // So that it can be merged onto, it must be here.
      if (repository && commit !== undefined) await saveWork(agent, session, repository, { path, withUncommitted: true, signal });
      return { branch: name, commit };
    },
    async land(agent, { path, branch, from, to }, repository, signal) {
      const session = sessions.get(agent.metadata.uid);
      if (!session?.state.isControlOpen) return { state: 'dirty', message: `agent ${agent.metadata.name} does not run` };
      const params = { path, branch, to, ...(from !== undefined && { from }) };
      const call = session.open('gitImport', params, { signal, deadlineMs: EXPORT_MS });
      await pipeline(repository.bundle(to, from === undefined ? [] : [from], signal), call.up.bundle);
      const { state, now, message = '' } = await call.result;
      if (state === 'landed') return { state };
      return state === 'moved' ? { state, now } : { state, message };
    },
  };
}

interface Collecting {
  readonly repository: TeamRepository;
  readonly path: string;
  readonly signal: AbortSignal;
}

async function collectNow(agent: Agent, session: Session, { repository, path, signal }: Collecting): Promise<Collected> {
  const saved = await saveWork(agent, session, repository, { path, withUncommitted: true, signal });
  if (saved.state === 'refused') return { state: 'failed', reason: saved.reason, message: saved.message };
  if (saved.head !== undefined) return { state: 'collected', head: saved.head, uncommittedFiles: saved.exported.uncommittedFiles };
  return { state: 'failed', reason: 'NotARepository', message: `${path} of ${agent.metadata.name} is no git repository with a commit` };
}

async function lastSaved(agent: Agent, repository: TeamRepository): Promise<Collected> {
  const name = shortName(agent.spec.team, agent.metadata.name);
  const head = await repository.resolve(branchRef(agentBranch(agent.spec.team, name)));
  if (head !== undefined) return { state: 'collected', head, uncommittedFiles: await lastUncommitted(agent, head, repository) };
  const message = `agent ${agent.metadata.name} does not run, and none of its commits were ever saved`;
  return { state: 'failed', reason: 'AgentUnreachable', message };
}

/** What it had not committed when it was last looked at, if it has not committed anything since. */
async function lastUncommitted({ metadata }: Agent, head: string, repository: TeamRepository): Promise<readonly string[]> {
  const wip = await repository.resolve(wipRef(metadata.uid));
  if (wip === undefined || (await repository.resolve(`${wip}^1`)) !== head) return [];
  return repository.changedFiles(head, wip);
}
