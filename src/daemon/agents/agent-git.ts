/**
 * Git in the lives of agents: what their workspaces start from, what is brought to safety while they work, and what is kept of them when they
 * go. Teams without a repository have none of it but the last: their files, too, are somebody's work.
 */
import { keyOf } from '#api/meta.ts';
import { type Agent, shortName, type Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Rescue, SavedWork } from '#controllers/agent/deps.ts';
import type { Driver } from '#drivers/driver.ts';
import { uidOf } from '#drivers/local/team-uid.ts';
import { agentBranch } from '#git/refs.ts';
import type { TeamRepositories, TeamRepository } from '#git/team-repository.ts';
import type { Session, Sessions } from '#guest/sessions.ts';
import { AgentisoError, ignoreNotFound, StalledError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { timeLimit } from '#lib/time-limit.ts';
import type { Wake } from '#runtime/controller.ts';
import { keepUnmerged, rescuedBefore } from '../desks/rescue.ts';
import { scheduleSaves } from './agent-saves.ts';
import { repositoryOf, type SaveOutcome, saveWork } from './agent-work.ts';
import { lastSaves, removeWorkspace } from './last-saves.ts';
import type { TeamBases } from './team-bases.ts';

export interface AgentGitDeps {
  readonly client: Client;
  readonly repositories: TeamRepositories;
  readonly bases: TeamBases;
  readonly sessions: Sessions;
  readonly agentByUid: (uid: string) => Agent | undefined;
  /** The number of an agent's team. */
  readonly teamNumber: (agent: Agent) => Promise<number>;
  /** All of this machine: an agent that moved has left files with another one. Absent: only the one it has now is looked at. */
  readonly drivers?: readonly Driver[];
  readonly warn?: (agent: Agent, reason: string, message: string) => void;
  /** The uids of agents with tasks that do not run in their guest. */
  readonly pulling?: () => readonly string[];
  readonly saveEveryMs?: number;
  readonly log: Logger;
}

type Work = NonNullable<NonNullable<Agent['status']>['git']>;

export interface AgentGit {
  /** What the agent's workspace starts as a copy of; empty for a team without a repository. */
  baseOf(agent: Agent, owner: number | undefined): Promise<{ readonly base?: string; readonly git?: Work }>;
  /** Whether there will be one, without making it. */
  hasBase(agent: Agent): Promise<boolean>;
  /** The same for what is no agent, by its uid, and belongs to the team. */
  baseFor(uid: string, team: Team, owner: number | undefined): Promise<string | undefined>;
  /** Before its first task: the branch it works on, and whose name stands in its commits. */
  prepare(agent: Agent, session: Session): Promise<void>;
  /** Everything that would go with the workspace and is nowhere else. Rejects when it cannot be kept now. */
  rescue(agent: Agent, driver: Driver, signal: AbortSignal): Promise<Rescue>;
  /** Brings its commits to safety now, as far as that can be done, and gives the last one that is. */
  settle(uid: string): Promise<string | undefined>;
  /** What one's files are a layer over becomes another's. */
  copyBase(fromUid: string, toUid: string): Promise<void>;
  forgetBase(uid: string): Promise<void>;
  /** What was last brought to safety. */
  workOf(agent: Agent): SavedWork | undefined;
  readonly wake: Wake;
  forget(agent: Agent): Promise<void>;
  /** Its repository, if that holds nothing that is nowhere else, and what its workspaces started from. */
  forgetTeam(team: Team): Promise<void>;
  close(): void;
}

export const DISCARD_ANNOTATION = 'agentiso.dev/discard-work';
const PREPARE_MS = 30_000;
const SETTLE_MS = 20_000;

export function createAgentGit(deps: AgentGitDeps): AgentGit {
  const saved = new Map<string, SavedWork>();
  /** What was last refused, so that it is said once. */
  const refused = new Map<string, string>();
  const prepared = new WeakSet<Session>();
  const listeners = new Set<(key: ReturnType<typeof keyOf>) => void>();

  async function save(uid: string): Promise<boolean> {
    const agent = deps.agentByUid(uid);
    const team = agent && (await teamOf(agent, deps.client));
    if (!agent || !team || agent.metadata.deletionTimestamp !== undefined || !hasRepository(team)) return true;
    const session = deps.sessions.get(uid);
    if (!session?.state.isControlOpen) return false;
    try {
      const outcome = await saveWork(agent, session, await repositoryOf(team, deps.repositories), { withUncommitted: true });
      noteRefusal(agent, outcome);
      note(agent, outcome);
      return true;
    } catch (error) {
      deps.log.debug({ err: error, agent: agent.metadata.name }, 'work was not saved; it is tried again');
      return false;
    }
  }

  /** Only these, which are few: nobody waits long for them. Undefined: they cannot be had now, or are refused. */
  async function saveCommits(uid: string): Promise<string | undefined> {
    const agent = deps.agentByUid(uid);
    const team = agent && (await teamOf(agent, deps.client));
    const session = deps.sessions.get(uid);
    if (!agent || !team || !hasRepository(team) || !session?.state.isControlOpen) return undefined;
    try {
      const options = { withUncommitted: false, signal: timeLimit(SETTLE_MS) };
      const { state, head } = await saveWork(agent, session, await repositoryOf(team, deps.repositories), options);
      return state === 'saved' ? head : undefined;
    } catch (error) {
      deps.log.debug({ err: error, agent: agent.metadata.name }, 'the last commits were not saved before a snapshot');
      return undefined;
    }
  }

  function noteRefusal(agent: Agent, outcome: SaveOutcome): void {
    const { uid, name } = agent.metadata;
    if (outcome.state === 'saved') {
      refused.delete(uid);
      return;
    }
    const { reason, message, exported } = outcome;
    const state = `${exported.head} ${message}`;
    if (refused.get(uid) === state) return;
    refused.set(uid, state);
    deps.log.warn({ agent: name, reason }, message);
    deps.warn?.(agent, reason, `the commits of its branch are not published: ${message}`);
  }

  function note(agent: Agent, { head, wip }: SaveOutcome): void {
    const before = saved.get(agent.metadata.uid) ?? agent.status?.git;
    if (before && before.head === head && before.wip === wip) return;
    saved.set(agent.metadata.uid, {
      ...(head !== undefined && { head }),
      ...(wip !== undefined && { wip }),
      savedAt: new Date().toISOString(),
    });
    for (const listener of listeners) listener(keyOf(agent));
  }

  const lastCommit = (uid: string) => {
    const work = deps.agentByUid(uid)?.status?.git;
    return saved.get(uid)?.head ?? work?.head ?? work?.forkBase;
  };

  const saves = scheduleSaves({
    sessions: deps.sessions,
    save,
    savedHead: lastCommit,
    ...(deps.pulling && { working: deps.pulling }),
    ...(deps.saveEveryMs !== undefined && { everyMs: deps.saveEveryMs }),
  });

  return {
    settle: async (uid) => (await saveCommits(uid)) ?? lastCommit(uid),
    copyBase: (fromUid, toUid) => deps.bases.copyNote(fromUid, toUid),
    forgetBase: (uid) => deps.bases.forget(uid),
    baseOf: (agent, owner) => baseOf(agent, owner, deps),
    hasBase: async (agent) => (await startOf(agent, deps)) !== undefined,
    baseFor: (uid, team, owner) => baseFor(uid, team, { ...deps, owner }),
    async prepare(agent, session) {
      if (prepared.has(session) || agent.status?.git?.forkBase === undefined) return;
      const { team } = agent.spec;
      const from = agent.status?.source?.agent ?? agent.spec.source?.agent;
      const env = {
        BRANCH: branchOf(agent),
        WHO: shortName(team, agent.metadata.name),
        TEAM: team,
        ...(from !== undefined && sourceOf(team, from)),
      };
      const { exitCode, stderr } = await session.call('exec', { command: PREPARE, env, timeoutMs: PREPARE_MS });
      if (exitCode !== 0)
        throw new AgentisoError('Unavailable', `the repository could not be prepared: ${stderr.trim()}`, { reason: 'RepositoryNotReady' });
      prepared.add(session);
    },
    rescue: (agent, driver, signal) => rescue(agent, driver, { ...deps, signal }),
    workOf: ({ metadata }) => saved.get(metadata.uid),
    wake: (enqueue) => {
      listeners.add(enqueue);
      return () => listeners.delete(enqueue);
    },
    async forget({ metadata: { uid } }) {
      saved.delete(uid);
      refused.delete(uid);
      saves.forget(uid);
      await deps.bases.forget(uid);
    },
    async forgetTeam({ metadata: { uid, name } }) {
      const outcome = await deps.repositories.remove(uid);
      if (outcome === 'kept')
        deps.log.info({ team: name }, 'the repository of a team that is gone is kept: it holds work that is nowhere else');
      await deps.bases.forgetTeam(uid);
    },
    close: () => saves.close(),
  };
}

/** A fork has the repository of another agent, on its branch and with its name. */
function sourceOf(team: string, agent: string): { readonly FROM: string; readonly FROM_WHO: string } {
  const who = shortName(team, agent);
  return { FROM: agentBranch(team, who), FROM_WHO: who };
}

/** Once: a repository that has the branch, is on another one or is damaged, is in the agent's hands. Names of agents and teams are plain words. */
const PREPARE = `[ -e .git ] || exit 0
if [ -n "\${FROM:-}" ] && [ "$(git symbolic-ref -q HEAD)" = "refs/heads/$FROM" ] && ! git rev-parse -q --verify "refs/heads/$BRANCH" >/dev/null; then
  git branch -q -m "$FROM" "$BRANCH" || exit 1
  [ "$(git config --local user.name)" != "$FROM_WHO" ] || { git config user.name "$WHO" && git config user.email "$WHO@$TEAM.agentiso"; } || exit 1
fi
git symbolic-ref -q HEAD >/dev/null && exit 0
git rev-parse -q --verify "refs/heads/$BRANCH" >/dev/null && exit 0
git rev-parse -q --verify HEAD >/dev/null 2>&1 || exit 0
printf '[user]\\n\\tname = %s\\n\\temail = %s@%s.agentiso\\n' "$WHO" "$WHO" "$TEAM" >> .git/config && git checkout -q -b "$BRANCH"`;

/** Decided once: what was written down holds, whatever the Team says by now, and a workspace that started empty stays what it is. */
async function startOf(agent: Agent, { client, bases }: AgentGitDeps) {
  const note = await bases.noteOf(agent.metadata.uid);
  const team = await teamOf(agent, client);
  const isNew = note === undefined && agent.status?.workspaceId === undefined;
  return note || (isNew && team && hasRepository(team)) ? { note, team } : undefined;
}

async function baseOf(agent: Agent, owner: number | undefined, deps: AgentGitDeps) {
  const { repositories, bases } = deps;
  const { uid } = agent.metadata;
  const start = await startOf(agent, deps);
  if (start === undefined) return {};
  const { note, team } = start;
  const own = team && (note === undefined || note.team === team.metadata.uid) ? await repositoryOf(team, repositories) : undefined;
  const repository = own ?? (note && (await repositories.find(note.team)));
  if (!repository)
    throw new StalledError('BaseMissing', `the repository that the workspace of ${agent.metadata.name} started from is gone`);
  const base = await bases.ensure(uid, repository, owner);
  if (!base) throw refNotFound(team);
  return { base: base.directory, git: { forkBase: base.commit, branch: branchOf(agent) } };
}

function refNotFound(team: Team | undefined): StalledError {
  const ref = team?.spec.repo?.ref ?? 'main';
  return new StalledError('RefNotFound', `spec.repo has no ${ref}; give a branch, a tag or a commit that is there`);
}

async function baseFor(
  uid: string,
  team: Team,
  { owner, bases, repositories }: AgentGitDeps & { readonly owner: number | undefined },
): Promise<string | undefined> {
  if (!hasRepository(team)) return undefined;
  const base = await bases.ensure(uid, await repositoryOf(team, repositories), owner);
  if (!base) throw refNotFound(team);
  return base.directory;
}

async function rescue(agent: Agent, driver: Driver, deps: AgentGitDeps & { readonly signal: AbortSignal }): Promise<Rescue> {
  const { uid, annotations } = agent.metadata;
  const others = (deps.drivers ?? []).filter((other) => other !== driver);
  const isGivenUp = annotations?.[DISCARD_ANNOTATION] === 'true';
  const outcome = isGivenUp
    ? { message: `given up by the annotation ${DISCARD_ANNOTATION}` }
    : await keep(agent, [driver, ...others], deps);
  for (const other of others) await removeWorkspace(uid, other, deps.signal);
  return outcome;
}

async function keep(agent: Agent, all: readonly Driver[], deps: AgentGitDeps & { readonly signal: AbortSignal }): Promise<Rescue> {
  const team = await teamOf(agent, deps.client);
  const drivers = await driversWithFiles(agent.metadata.uid, all, deps.signal);
  if (drivers.length === 0) return (await rescuedBefore(agent, await findRepository(agent, team, deps.repositories))) ?? NOTHING;
  const repository = team ? await repositoryOf(team, deps.repositories) : await orphanage(agent, deps.repositories);
  const outcomes = await lastSaves(agent, drivers, { ...deps, repository, ownerOf });
  return keepUnmerged(agent, outcomes, { repository, team });
}

/** As root each team has a user of its own; otherwise everything belongs to whom we are. */
function ownerOf({ name }: Driver, team: number): number | undefined {
  return name === 'sandbox' && process.getuid?.() === 0 ? uidOf(team) : undefined;
}

const NOTHING: Rescue = { message: 'there was nothing in its workspace' };

/** An agent that moved to another driver has left what it had written where it was. */
async function driversWithFiles(uid: string, drivers: readonly Driver[], signal: AbortSignal): Promise<Driver[]> {
  const has = await Promise.all(
    drivers.map(async (driver) => (await driver.get(uid, signal)) !== undefined && (await driver.hasFiles?.(uid)) !== false),
  );
  return drivers.filter((_, index) => has[index]);
}

function branchOf({ metadata, spec }: Agent): string {
  return agentBranch(spec.team, shortName(spec.team, metadata.name));
}

function hasRepository({ spec: { repo } }: Team): boolean {
  return repo?.path != null || repo?.url != null;
}

async function teamOf({ metadata, spec }: Agent, client: Client): Promise<Team | undefined> {
  return ignoreNotFound(client.get<Team>({ kind: 'Team', namespace: metadata.namespace, name: spec.team }));
}

/** For agents whose team is gone. */
function orphanage({ metadata: { namespace } }: Agent, repositories: TeamRepositories): Promise<TeamRepository> {
  return repositories.open({ uid: orphansIn(namespace), namespace, name: 'orphans' });
}

function findRepository({ metadata: { namespace } }: Agent, team: Team | undefined, repositories: TeamRepositories) {
  return repositories.find(team?.metadata.uid ?? orphansIn(namespace));
}

function orphansIn(namespace: string): string {
  return `orphans-${namespace}`;
}
