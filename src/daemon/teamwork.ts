/** Everything that teams work with in one home: agents, mail, tasks, notes, outputs, git. Opened in order, handed to controllers and desks, closed in order. */
import { resolve } from 'node:path';
import { hasRoomFor, startHold } from '#api/fleet.ts';
import { checkAtFrontDoor } from '#api/front-door.ts';
import { admission, kinds } from '#api/kinds.ts';
import type { Limits } from '#api/limits.ts';
import { type Agent, shortName, type Task, type Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { DaemonConfig } from '#config';
import type { PlanPhase } from '#controllers/agent/deps.ts';
import type { ControllerDeps } from '#controllers/index.ts';
import { taskBoards } from '#controllers/task/boards.ts';
import { createTaskBook } from '#controllers/task/book.ts';
import { Budgets } from '#controllers/task/budgets.ts';
import { isHeld, plannerOf } from '#controllers/task/card.ts';
import { Radar } from '#git/radar.ts';
import type { TeamRepositories } from '#git/team-repository.ts';
import type { AuditLog } from '#lib/audit.ts';
import { awakeMs } from '#lib/awake-time.ts';
import { newUid } from '#lib/clock.ts';
import { Gate } from '#lib/gate.ts';
import type { Logger } from '#lib/log.ts';
import type { Metrics } from '#lib/metrics.ts';
import type { AgentMode } from '#mcp/agent-mode.ts';
import type { WorkspaceIo } from '#mcp/workspace-io.ts';
import type { CredentialSource } from '#providers/credential-file.ts';
import { Meter } from '#providers/meter.ts';
import { removeTeamMail } from '#relay/mail-sweep.ts';
import type { RateLimits } from '#relay/rates.ts';
import type { Sweep } from '#runtime/controller.ts';
import type { EventLog } from '#runtime/events.ts';
import type { AgentIo } from '#server/agent-io.ts';
import type { Desks } from '#server/desk.ts';
import type { Store } from '#store/store.ts';
import { openVault } from '#vault/open-vault.ts';
import { guestAgentPath } from '../guest-agent-path.ts';
import { findUserImage, imagesEnvironment, templatesDirectory } from '../user-images.ts';
import { createAgentIo } from './agents/agent-io.ts';
import { createAgentMode } from './agents/agent-mode.ts';
import { snapshotDeps, snapshotSweep } from './agents/agent-snapshots.ts';
import { agentWakes, agentWatches } from './agents/agent-wakes.ts';
import { agentWork } from './agents/agent-work.ts';
import { createGoldens } from './agents/goldens.ts';
import { driverNameOf } from './agents/isolation.ts';
import { endAgents, endOrphans } from './agents/stop-agents.ts';
import { agentDeps, firstProcessOf, type Machine, openAgents } from './agents.ts';
import { createArtifacts } from './attempts/artifacts.ts';
import { openAttempts } from './attempts/attempts.ts';
import { liveTranscripts } from './attempts/live-transcripts.ts';
import { meteringOf } from './attempts/metering.ts';
import { byUid } from './by-uid.ts';
import { createArtifactDesk } from './desks/artifact-desk.ts';
import { createMergeDesk } from './desks/merge-desk.ts';
import { createMessageDesk } from './desks/message-desk.ts';
import { peopleInboxes } from './desks/people-inboxes.ts';
import { createProviderDesk } from './desks/provider-desk.ts';
import { createRescueDesk } from './desks/rescue-desk.ts';
import { createVaultDesk } from './desks/vault-desk.ts';
import { createCommitVerifier } from './verify/commit-verifier.ts';
import { createVerifier } from './verify/verifier.ts';
import { workMetrics } from './work-metrics.ts';
import { createWorkspaceIo } from './workspace-io/workspace-io.ts';

export interface TeamworkOptions {
  readonly config: DaemonConfig;
  readonly store: Store;
  readonly client: Client;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly events: EventLog;
  readonly limits: Limits;
  /** Calls when they may have changed. Gives what ends it. */
  onLimits(listener: () => void): () => void;
  readonly rates: RateLimits;
  readonly audit: AuditLog;
  readonly credentials: CredentialSource;
  readonly machine?: Machine;
}

export interface Teamwork {
  readonly deps: ControllerDeps;
  readonly sweeps: readonly Sweep[];
  readonly desks: Desks;
  readonly agentIo: AgentIo;
  readonly workspaces: WorkspaceIo;
  readonly agentMode: AgentMode;
  /** After the controllers have stopped. Agents end, or are left for the next daemon. */
  close(options: { readonly keep: boolean }): Promise<void>;
  /** The home is gone, and with it everything that could be closed in good order. */
  abandon(): Promise<void>;
}

export async function openTeamwork(options: TeamworkOptions): Promise<Teamwork> {
  const { config, store, client, log, metrics, events, limits, rates, audit, credentials, machine } = options;
  const { hostEnv = () => undefined } = config;
  // Programs are started in other folders, where a relative path is another one.
  const home = resolve(config.home);
  const agentByUid = byUid<Agent>(store, 'Agent');
  const teamByUid = byUid<Team>(store, 'Team');
  const teamOf = ({ metadata: { namespace }, spec }: Agent) => store.get({ kind: 'Team', namespace, name: spec.team }) as Team | undefined;
  const pulled = openTasks(store, true);
  const vault = await openVault({ home, log });
  const boards = taskBoards(client);
  const meter = new Meter({ prices: () => credentials.prices(), metrics });
  const budgets = new Budgets(client, meter);
  const book = createTaskBook({ client, boards, budgets, events: events.recorder('task'), canVerify: true });
  const starts = new Gate(() => limits.maxConcurrentForks);
  const images = imagesEnvironment(hostEnv, process.cwd());
  const agents = await openAgents({
    home,
    client,
    log,
    metrics,
    objectOf: (key) => store.get(key),
    agentByUid,
    teamByUid,
    book,
    vault,
    rates,
    audit,
    credentials,
    metering: meteringOf(store, meter),
    hostEnv,
    ...(config.tools !== undefined && { tools: config.tools }),
    pulling: () => pullingAgents(store),
    ...(machine && { machine }),
    guestAgentPath: guestAgentPath(),
    findImage: findUserImage(images),
    templates: await templatesDirectory(images),
    vmAcceleration: hostEnv('AGENTISO_VM_ACCEL'),
    limits,
    starts,
    hasRoomFor: (pool) => hasRoomFor(pool, agentsIn(store), limits),
    version: config.version ?? 'source',
    uplink: config.uplink ?? false,
    checkTeam(team) {
      const object = admission.admit(team as never, undefined) as Team;
      checkAtFrontDoor({ object, old: undefined }, store, { limits, models: (provider) => credentials.models(provider) });
    },
    warn: (object, reason, message) => events.recorder('mail').warning(object, reason, message),
    onCardRestored: (agent, message) => events.recorder('cards').warning(agent, 'GeneratedFileRestored', message),
    onRefused: (agent, name) =>
      events.recorder('egress').warning(agent, 'EgressRefused', `${name} is not in the team's network.allowDomains`),
  });
  const artifacts = createArtifacts({ home, client, log, events: events.recorder('artifacts') });
  await artifacts.sweep();
  const attempts = await openAttempts({ client, mail: agents.mail, sessions: agents.sessions, artifacts, vault, log });
  const ofAgents = agentDeps(agents, client);
  const verifier = createVerifier({ ...agents, home, client, log, drivers: agents.here.drivers, placeOf: ofAgents.placeOf });
  const teamNumber = (team: Team) => agents.numbers.numberOf('teams', team.metadata.uid);
  const mergeVerifier = createCommitVerifier({ home, client, log, here: agents.here, teamNumber });
  const goldens = createGoldens({
    ...agents,
    home,
    client,
    log,
    teamNumber: (team) => agents.numbers.ensure('teams', team.metadata.uid),
  });
  const deps: ControllerDeps = {
    ...ofAgents,
    ...snapshotDeps(agents, store),
    client,
    contentKinds: kinds.filter(({ isNamespaced }) => isNamespaced).map(({ kind }) => kind),
    newIncarnation: newUid,
    hostEnv,
    monotonicMs: awakeMs,
    workspaceChanges: agentWakes(agents, agentByUid),
    watches: agentWatches(store),
    limits,
    limitChanges: (enqueue) =>
      options.onLimits(() => {
        for (const { metadata } of store.list('Team').items) enqueue({ kind: 'Team', namespace: metadata.namespace, name: metadata.name });
      }),
    starts,
    mayStart(agent) {
      const around = { team: teamOf(agent), agents: agentsIn(store) };
      const hold = startHold(agent, around, limits);
      const { pool } = agents.here;
      // What only stands ready makes room for what is wanted.
      if (!hold && pool && startHold(agent, { ...around, pool: pool.size() }, limits)) pool.shrink();
      return hold;
    },
    pulledTasks: pulled,
    assignedTasks: openTasks(store, false),
    planOf: (agent) => planOf(store, agent),
    attempts,
    artifacts,
    boards,
    budgets,
    meter,
    verifier,
    mergeVerifier,
    goldens,
    repositories: agents.repositories,
    work: agentWork({ client, repositories: agents.repositories, sessions: agents.sessions }),
    radar: new Radar(),
    vault,
    notices: agents.relay.notices,
    people: peopleInboxes(agents.mail, { agentByUid, teamByUid }),
    network: agents.network,
    numbers: agents.numbers,
    driverNameOf: (agent) => driverNameOf(agent, agents.here),
    firstProcessOf: (agent) => firstProcessOf(agents, client, agent),
    async forgetTeam(team) {
      const number = agents.numbers.find('teams', team.metadata.uid);
      if (number !== undefined) agents.here.pool?.shrink(number);
      await removeTeamMail(agents.mail, team);
      await artifacts.removeTeam(team.metadata);
      await agents.git.forgetTeam(team);
    },
  };
  const { onExec } = workMetrics({ metrics, store, network: agents.network });
  const end = async () => {
    attempts.close();
    await verifier.close();
    await mergeVerifier.close();
    await goldens.close();
    agents.git.close();
    agents.relay.close();
  };
  return {
    deps,
    sweeps: [agents.relay.sweep, repositorySweep(agents.repositories), snapshotSweep(agents, store)],
    desks: {
      messages: createMessageDesk({ post: agents.relay.post, taskBook: book }),
      vault: createVaultDesk(vault),
      artifacts: createArtifactDesk({ ...artifacts, live: liveTranscripts({ client, sessions: agents.sessions }) }),
      merges: createMergeDesk({ client, now: () => new Date() }),
      providers: createProviderDesk(credentials),
      rescue: createRescueDesk(agents.repositories, (uid) => teamByUid(uid) !== undefined),
    },
    agentIo: createAgentIo({ ...agents, onExec }),
    workspaces: createWorkspaceIo({
      ...agents,
      onExec,
      agentOf: ({ namespace, agent }) => store.get({ kind: 'Agent', namespace, name: agent }) as Agent | undefined,
    }),
    agentMode: createAgentMode({ ...agents, agentOf: ({ namespace, team, name }) => memberOf(store, { namespace, team }, name) }),
    async close({ keep }) {
      await end();
      try {
        await endAgents(agents, client, { keep });
      } finally {
        agents.cards.close();
        await vault.close();
      }
    },
    async abandon() {
      await end();
      await endOrphans(agents, agentsIn(store));
      await vault.close();
    },
  };
}

function agentsIn(store: Store): Agent[] {
  return store.list('Agent').items as Agent[];
}

/** By its short name, or the whole one. */
function memberOf(
  store: Store,
  { namespace, team }: { readonly namespace: string; readonly team: string },
  name: string,
): Agent | undefined {
  const { items } = store.list('Agent', { namespace, fieldSelector: `spec.team=${team}` });
  return (items as Agent[]).find(({ metadata }) => metadata.name === name || shortName(team, metadata.name) === name);
}

/** From the tasks that are under way, which are few, and not from the agents: each of a thousand may have done very many. */
function pullingAgents(store: Store): string[] {
  const open = ['Claimed', 'Running'].flatMap((phase) => store.list('Task', { fieldSelector: `status.phase=${phase}` }).items as Task[]);
  const uids = open.flatMap(({ metadata: { namespace }, status }) => {
    if (status?.claim !== 'Pulled' || status.owner === undefined) return [];
    return store.get({ kind: 'Agent', namespace, name: status.owner })?.metadata.uid ?? [];
  });
  return [...new Set(uids)];
}

/** Tasks that are an agent's: those it has taken by itself do not run in its guest, which knows nothing of them. */
function openTasks(store: Store, isPulled: boolean): (agent: Agent) => number {
  return ({ metadata: { namespace, name } }) => {
    const { items } = store.list('Task', { namespace, fieldSelector: `status.owner=${name}` });
    const isOpen = ({ status }: Task) =>
      (status?.claim === 'Pulled') === isPulled && (status?.phase === 'Claimed' || status?.phase === 'Running');
    return (items as Task[]).filter(isOpen).length;
  };
}

/** From what is claimed, which is little: an agent of a large home may have done thousands of Tasks, and this is asked with every look at it. */
function planOf(store: Store, { metadata: { namespace, name }, spec }: Agent): PlanPhase | undefined {
  const heldIn = (phase: string) =>
    store.list('Task', { namespace, fieldSelector: `status.phase=${phase},status.owner=${name}` }).items as readonly Task[];
  const claimed = heldIn('Claimed');
  const planned = claimed.find((task) => plannerOf(task) === name);
  if (!planned) return undefined;
  const others = [...claimed, ...heldIn('Running'), ...heldIn('Blocked')];
  const isShared = others.some((task) => isHeld(task) && plannerOf(task) === undefined);
  return { task: shortName(spec.team, planned.metadata.name), isShared };
}

const TIDY_MS = 10 * 60_000;

function repositorySweep(repositories: TeamRepositories): Sweep {
  return {
    name: 'repositories',
    everyMs: TIDY_MS,
    async sweep({ signal, log }) {
      const packed = await repositories.tidy(signal);
      if (packed > 0) log.info({ packed }, 'repositories of teams were packed');
    },
  };
}
