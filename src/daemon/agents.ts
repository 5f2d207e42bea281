/** Everything that makes agents run in one home: drivers, sessions, mail, network, proxy, ports. Put together here, taken apart in order. */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { KnownModels } from '#api/known-models.ts';
import type { Limits } from '#api/limits.ts';
import type { Agent, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { AgentDeps, Place } from '#controllers/agent/deps.ts';
import { startOf } from '#controllers/agent/replace.ts';
import { teamOfAgent } from '#controllers/network/policy.ts';
import { teamsAround } from '#controllers/network/team-chain.ts';
import type { Driver } from '#drivers/driver.ts';
import { uidOf } from '#drivers/local/team-uid.ts';
import { imageNotFound } from '#drivers/vm/driver.ts';
import { openTeamRepositories } from '#git/open-team-repositories.ts';
import type { TeamRepositories } from '#git/team-repository.ts';
import { createSessions } from '#guest/create-sessions.ts';
import type { Sessions } from '#guest/sessions.ts';
import { ignoreNotFound, NotFoundError, StalledError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import type { Metrics } from '#lib/metrics.ts';
import { Numbers } from '#lib/numbers.ts';
import type { ProcessIdentity } from '#lib/process-identity.ts';
import { timeLimit } from '#lib/time-limit.ts';
import type { Mail } from '#mail/mail.ts';
import type { KnownMailbox } from '#mail/mailbox.ts';
import { openMail } from '#mail/open-mail.ts';
import { homeHash } from '#network/addresses.ts';
import { createNetwork } from '#network/create-network.ts';
import { createEgress, type Egress } from '#network/egress/create-egress.ts';
import type { Network } from '#network/network.ts';
import { PortForwards } from '#network/port-forwards/port-forwards.ts';
import type { CredentialSource } from '#providers/credential-file.ts';
import { type ProviderRouteOptions, providerRoute } from '#providers/route.ts';
import { openRelay, type Relay, type RelayOptions } from '#relay/open-relay.ts';
import type { TaskBook } from '#relay/task-book.ts';
import type { Vault } from '#vault/vault.ts';
import { type AgentGit, createAgentGit } from './agents/agent-git.ts';
import { forwardPort } from './agents/agent-io.ts';
import { openCards, type VaultCards } from './agents/cards.ts';
import { formerHomes } from './agents/former-homes.ts';
import { chooseDriver, DEFAULT_IMAGE, type DriversHere, type DriversOptions, driverNameOf, findDrivers } from './agents/isolation.ts';
import { surroundingsOf } from './agents/surroundings.ts';
import { createTeamBases } from './agents/team-bases.ts';
import { TeamTokens } from './agents/team-tokens.ts';
import { tellGuest } from './agents/tell-guest.ts';
import { chooseBackend, refuseUnknownModel } from './attempts/choose-backend.ts';

export interface AgentsOptions
  extends Pick<RelayOptions, 'metrics' | 'objectOf' | 'agentByUid' | 'teamByUid' | 'warn' | 'checkTeam' | 'rates' | 'audit'> {
  readonly home: string;
  readonly client: Client;
  readonly log: Logger;
  readonly guestAgentPath: string;
  readonly findImage: DriversOptions['findImage'];
  readonly templates?: DriversOptions['templates'];
  readonly vmAcceleration?: DriversOptions['vmAcceleration'];
  readonly limits?: Limits;
  readonly starts?: DriversOptions['starts'];
  readonly hasRoomFor?: DriversOptions['hasRoomFor'];
  readonly version: string;
  readonly hostEnv: (name: string) => string | undefined;
  readonly metrics: Pick<Metrics, 'counter' | 'histogram'>;
  readonly credentials: CredentialSource;
  /** The directory of coding agents. Absent: there are none. */
  readonly tools?: string;
  /** What agents' requests to providers count for, and what counts them. */
  readonly metering: Pick<ProviderRouteOptions, 'taskOf' | 'onUsage'>;
  /** A name that an agent's proxy refused. */
  readonly onRefused: (agent: Agent, name: string) => void;
  readonly uplink: boolean;
  /** What agents may ask for beside mail. */
  readonly book: TaskBook;
  readonly vault: Vault;
  /** A card that somebody else had changed was put back. */
  readonly onCardRestored: (agent: Agent, message: string) => void;
  /** Uids of agents that work on Tasks they have taken by themselves. */
  readonly pulling?: () => readonly string[];
  readonly machine?: Machine;
}

/** What touches the machine: a benchmark of a thousand agents puts a simulated one in its place. */
export interface Machine {
  readonly createNetwork: typeof createNetwork;
  readonly findDrivers: typeof findDrivers;
  readonly createSessions: typeof createSessions;
  readonly createEgress: typeof createEgress;
}

const THIS_MACHINE: Machine = { createNetwork, findDrivers, createSessions, createEgress };

/** The parts, for whoever puts the daemon together. */
export interface Agents {
  readonly homeHash: string;
  readonly here: DriversHere;
  readonly sessions: Sessions;
  readonly mail: Mail;
  readonly relay: Relay;
  readonly network: Network;
  readonly numbers: Numbers;
  readonly repositories: TeamRepositories;
  readonly git: AgentGit;
  readonly egress: Egress;
  readonly forwards: PortForwards;
  readonly cards: VaultCards;
  readonly tokens: TeamTokens;
  readonly tools: string | undefined;
  readonly models: KnownModels;
  readonly findImage: DriversOptions['findImage'];
  /** Where an agent's workspace is; undefined when it has none. */
  driverOf(uid: string): Driver | undefined;
}

export async function openAgents(options: AgentsOptions): Promise<Agents> {
  const { home, client, log, agentByUid, teamByUid, onRefused, warn, book, vault, machine = THIS_MACHINE } = options;
  const former = formerHomes(home, log);
  const network = await machine.createNetwork({ home, log, uplink: options.uplink, formerHomes: former });
  const here = await machine.findDrivers({ ...options, formerHomes: former });
  const mail = openMail({
    directory: join(home, 'state', 'mail'),
    log,
    known: (owner) => rememberedMail(agentByUid(owner) ?? teamByUid(owner)),
    onAppended: (appended) => tellGuest(sessions, appended),
    onProblem({ owner, reason, message }) {
      const object = agentByUid(owner) ?? teamByUid(owner);
      if (object) warn(object, reason, message);
    },
  });
  const driverOf = (uid: string): Driver | undefined => {
    const name = agentByUid(uid)?.status?.isolation?.driver;
    return here.drivers.find((driver) => driver.name === name);
  };
  const relay = openRelay({
    ...options,
    mail,
    incarnationOf: (uid) => sessions.get(uid)?.incarnation,
    isWaiting: (uid) => (sessions.get(uid)?.state.heartbeat?.waits ?? 0) > 0,
  });
  const sessions: Sessions = machine.createSessions({
    desk: relay.deskFor({ book, vault }),
    version: options.version,
    async dial(uid, port, signal) {
      const driver = await driverWith(uid, here, signal);
      return driver.connect(uid, port, signal);
    },
  });
  const egress = machine.createEgress({
    log,
    ownPaths: providerRoute({ credentials: options.credentials, agentByUid, log, metrics: options.metrics, ...options.metering }),
    onRefused(uid, name) {
      const agent = agentByUid(uid);
      if (agent) onRefused(agent, name);
    },
  });
  const numbers = new Numbers(join(home, 'state', 'numbers.json'));
  const repositories = await openTeamRepositories(home);
  const bases = createTeamBases(home);
  await bases.sweep();
  const git = createAgentGit({
    client,
    repositories,
    bases,
    sessions,
    agentByUid,
    log,
    drivers: here.drivers,
    warn,
    ...(options.pulling && { pulling: options.pulling }),
    teamNumber: (agent) => teamNumberOf({ numbers }, client, agent),
  });
  return {
    homeHash: homeHash(realpathSync(home)),
    here,
    sessions,
    mail,
    relay,
    network,
    numbers,
    repositories,
    git,
    egress,
    forwards: new PortForwards({ log }),
    cards: openCards({ vault, log, onRestored: options.onCardRestored }),
    tokens: new TeamTokens(),
    tools: options.tools,
    models: (provider) => options.credentials.models(provider),
    findImage: options.findImage,
    driverOf,
  };
}

/** The agent's status may not say yet where its workspace is. */
async function driverWith(uid: string, { drivers }: DriversHere, signal: AbortSignal): Promise<Driver> {
  for (const driver of drivers) {
    if ((await driver.get(uid, signal))?.phase === 'running') return driver;
  }
  throw new NotFoundError(`no workspace ${uid} runs`);
}

/** What the agent controller needs, but for what belongs to the runtime. */
export function agentDeps(
  agents: Agents,
  client: Client,
): Omit<AgentDeps, 'workspaceChanges' | 'watches' | 'hostEnv' | 'newIncarnation' | 'monotonicMs'> {
  const { here, sessions, forwards, cards, mail, relay, egress, tokens } = agents;
  return {
    sessions,
    prepare: (agent, session) => agents.git.prepare(agent, session),
    rescue: (agent, driver, signal) => agents.git.rescue(agent, driver, signal),
    workOf: (agent) => agents.git.workOf(agent),
    inbox: relay.activity,
    notices: relay.notices,
    driverFor: (agent) => chooseDriver(agent, here),
    placeOf: (agent, driver) => placeOf(agents, client, agent, driver),
    linkOf: (agent, driver) => linkOf(agents, agent, driver),
    surroundingsOf: (agent) => surroundingsOf(agents, client, agent),
    async forward({ metadata: { uid }, spec, status }, session) {
      const wanted = (spec.portForwards ?? []).map(({ guestPort, hostPort = null }) => ({ guestPort, hostPort }));
      return forwards.ensure(
        uid,
        wanted,
        async (port, signal) => forwardPort(session, port, signal),
        status?.endpoints?.portForwards ?? [],
      );
    },
    parentTeamOf: async (agent) => (await teamOf(client, agent))?.spec.parent ?? null,
    writeCard: (agent, card) => cards.write(agent, card),
    async graceMsOf(agent) {
      const team = await teamOf(client, agent);
      return (team?.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1_000;
    },
    async forget(agent) {
      const { uid } = agent.metadata;
      await Promise.all([forwards.remove(uid), egress.close(uid), cards.remove(agent), mail.remove(uid), agents.git.forget(agent)]);
      tokens.forgetAgent(uid);
      relay.forget(uid);
    },
  };
}

const DEFAULT_GRACE_SECONDS = 30;

async function teamOf(client: Client, { metadata: { namespace }, spec: { team } }: Agent): Promise<Team | undefined> {
  return ignoreNotFound(client.get<Team>({ kind: 'Team', namespace, name: team }));
}

async function placeOf(agents: Agents, client: Client, agent: Agent, driver: Driver): Promise<Place> {
  const { git, here } = agents;
  const work = await chooseBackend(agent, agents.tools);
  refuseUnknownModel(agent, work, agents.models);
  const team = await teamNumberOf(agents, client, agent);
  const isOwned = driver.name === 'sandbox' && here.sandbox.mode === 'root';
  const base = await git.baseOf(agent, isOwned ? uidOf(team) : undefined);
  // A process of this machine needs no way out; it needs one to providers, whose keys it does not have.
  if (driver.name === 'process') return { team, egress: true, ...base, ...work };
  const isMachine = driver.name === 'vm';
  const image = isMachine ? { image: await imageOf(agents, agent) } : {};
  return { team, egress: true, ...(await linkOf(agents, agent, driver)), ...image, ...base, ...work };
}

async function linkOf({ network, numbers }: Agents, agent: Agent, driver: Driver): Promise<Pick<Place, 'network' | 'link'>> {
  if (network.mode === 'proxy-only') return {};
  const link = await network.ensureLink(await numbers.ensure('agents', agent.metadata.uid), timeLimit(30_000));
  if (driver.name !== 'vm') return { network: link.namespace };
  const { namespace, address, mac, gateway, gatewayMac } = link;
  return { network: namespace, link: { address, mac, gateway, gatewayMac } };
}

/** What was started ahead for such an agent and is kept for it from now on: asked before it has a link, which is made where that waits. */
export async function firstProcessOf(agents: Agents, client: Client, agent: Agent): Promise<ProcessIdentity | undefined> {
  const { here, git } = agents;
  const { uid: id } = agent.metadata;
  // Most often there is nothing, and nothing to find out.
  if ((here.pool?.size().agents ?? 0) === 0 || agent.spec.desiredState !== 'Running') return undefined;
  const driver = here.drivers.find(({ name }) => name === driverNameOf(agent, here));
  try {
    const { tools } = await chooseBackend(agent, agents.tools);
    const [team, hasBase] = await Promise.all([teamNumberOf(agents, client, agent), git.hasBase(agent)]);
    const resources = startOf(agent);
    return await driver?.reserve?.({ id, team, resources, egress: true, hasBase, ...(tools !== undefined && { tools }) });
  } catch (error) {
    // It will not be started as it is; the start says why.
    if (error instanceof StalledError) return undefined;
    throw error;
  }
}

async function imageOf({ findImage }: Agents, { spec }: Agent): Promise<string> {
  const name = spec.image ?? DEFAULT_IMAGE;
  if ((await findImage(name)) === undefined) throw imageNotFound(name);
  return name;
}

async function teamNumberOf({ numbers }: Pick<Agents, 'numbers'>, client: Client, agent: Agent): Promise<number> {
  const team = teamOfAgent(agent, await teamsAround(client, agent));
  // An agent whose team is not there has files of its own all the same.
  return numbers.ensure('teams', team?.metadata.uid ?? agent.metadata.uid);
}

/** Of one that is going the mailbox goes as well, and may be gone. */
function rememberedMail(owner: Agent | Team | undefined): KnownMailbox | undefined {
  if (!owner || owner.metadata.deletionTimestamp !== undefined) return undefined;
  const { mailbox } = owner.kind === 'Agent' ? (owner.status ?? {}) : {};
  return { nextSeq: mailbox?.nextSeq, unacked: owner.status?.messagesPending };
}
