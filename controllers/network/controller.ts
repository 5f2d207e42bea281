/**
 * The network of an Agent: its link, its address, and its part in the rules, which are made anew from all Teams and Agents.
 * Owns the condition NetworkReady, status.ip, and the agent's number.
 */
import type { Agent, Team } from '#api/types.ts';
import { ignoreNotFound, StalledError } from '#lib/errors.ts';
import { equalJson } from '#lib/json.ts';
import type { ProcessIdentity } from '#lib/process-identity.ts';
import { type ConditionInput, getCondition, isTrue, setCondition } from '#runtime/conditions.ts';
import type { Controller, Key, ReconcileContext, WithStatus } from '#runtime/controller.ts';
import { Family, teamOf } from './family.ts';
import { type Permissions, permissionsOf, type TeamsByName, teamOfAgent, WORKSPACE_FINALIZER } from './policy.ts';
import { createRules, type RefreshDeps } from './refresh.ts';
import { teamsAround } from './team-chain.ts';

export interface NetworkDeps extends RefreshDeps {
  /** Throws StalledError when nothing on this machine isolates as strongly as the agent asks for. */
  readonly driverNameOf: (agent: Agent) => 'process' | 'sandbox' | 'vm';
  /** What was started ahead and will be the agent's; undefined, or absent: nothing. */
  readonly firstProcessOf?: (agent: Agent) => Promise<ProcessIdentity | undefined>;
}

export const NETWORK_FINALIZER = 'agentiso.dev/network';
/** The object changes when the workspace is gone; this is for a change that was missed. */
const WORKSPACE_POLL_MS = 1_000;

export function networkController(deps: NetworkDeps): Controller<Agent> {
  const { network, numbers } = deps;
  const rules = createRules(deps);
  const family = new Family();
  const drifts: Drifts = new Map();
  return {
    name: 'network',
    kind: 'Agent',
    finalizer: NETWORK_FINALIZER,
    failureCondition: 'NetworkReady',
    isAtRest: (agent, before) => isAsBefore(agent, before, deps),
    watches: [{ kind: 'Team', toKeys: (team, type) => family.concernedBy(team, type === 'DELETED') }],
    wakes: [
      (enqueue) =>
        network.onDrift((what) => {
          rules.doubt();
          for (const team of family.teams()) drifts.set(team, what);
          family.agents().forEach(enqueue);
        }),
    ],
    async reconcile(agent, ctx) {
      family.addAgent(agent);
      await reportDrift(deps, agent, { drifts, ctx });
      const driver = deps.driverNameOf(agent);
      if (driver === 'process') return ready(agent, notEnforced(driver), ctx);
      const teams = await teamsAround(deps.client, agent);
      const permissions = permissionsOfAgent(agent, teams);
      if (network.mode === 'proxy-only') return ready(agent, proxyOnly(permissions, network.reason), ctx);
      const number = await numbers.ensure('agents', agent.metadata.uid);
      const { address } = await network.ensureLink(number, ctx.signal, async () => deps.firstProcessOf?.(agent));
      // Most looks come from an agent's own status, of which no rule speaks; and to make the rules all agents are looked at.
      if (!rules.cover(agent, teams)) await rules.refresh(ctx.signal);
      agent.status.ip = address;
      return ready(agent, enforced(agent, permissions, network.hasUplink), ctx);
    },
    async finalize(agent, ctx) {
      if ((agent.metadata.finalizers ?? []).includes(WORKSPACE_FINALIZER)) return { requeueAfterMs: WORKSPACE_POLL_MS };
      await removeFromNetwork(deps, agent, () => rules.refresh(ctx.signal), ctx);
      family.removeAgent(agent);
      return 'done';
    },
  };
}

/** An agent's status changes all the time, and its spec in much that no rule speaks of. Of what is here its network is made. */
function isAsBefore(agent: Agent, before: Agent | undefined, { driverNameOf }: NetworkDeps): boolean {
  return (
    before !== undefined &&
    (agent.metadata.finalizers ?? []).includes(NETWORK_FINALIZER) &&
    isTrue(agent, 'NetworkReady') &&
    equalJson(getCondition(agent, 'NetworkReady'), getCondition(before, 'NetworkReady')) &&
    agent.status?.ip === before.status?.ip &&
    agent.spec.team === before.spec.team &&
    isSameDriver(agent, before, driverNameOf)
  );
}

function isSameDriver(agent: Agent, before: Agent, driverNameOf: NetworkDeps['driverNameOf']): boolean {
  try {
    return driverNameOf(agent) === driverNameOf(before);
  } catch (error) {
    // The pass says why.
    if (error instanceof StalledError) return false;
    throw error;
  }
}

/** Out of the rules first: the number may be somebody else's as soon as it is free. */
async function removeFromNetwork(
  { network, numbers }: NetworkDeps,
  agent: Agent,
  refresh: () => Promise<void>,
  ctx: ReconcileContext,
): Promise<void> {
  const { uid } = agent.metadata;
  const number = numbers.find('agents', uid);
  if (number === undefined) return;
  if (network.mode === 'nftables') {
    await refresh();
    await network.removeLink(number, ctx.signal);
  }
  await numbers.release('agents', uid);
}

/** Team → what was found changed and is not said yet. */
type Drifts = Map<string, string>;

/** Rules belong to no single object: the event is on each Team that has agents, once. */
async function reportDrift(
  { client }: NetworkDeps,
  agent: Agent,
  { drifts, ctx }: { drifts: Drifts; ctx: ReconcileContext },
): Promise<void> {
  const what = drifts.get(teamOf(agent));
  if (what === undefined) return;
  drifts.delete(teamOf(agent));
  const team = await ignoreNotFound(client.get<Team>(teamKey(agent)));
  if (team) ctx.events.warning(team, 'RulesDrifted', `somebody else changed the network rules: ${what}`);
}

function permissionsOfAgent(agent: Agent, teams: TeamsByName): Permissions | undefined {
  const team = teamOfAgent(agent, teams);
  return team && permissionsOf(team, teams);
}

function ready(agent: WithStatus<Agent>, condition: Omit<ConditionInput, 'type' | 'status'>, ctx: ReconcileContext): Record<string, never> {
  if (condition.reason !== 'Enforced') delete agent.status.ip;
  const before = getCondition(agent, 'NetworkReady');
  setCondition(agent, { type: 'NetworkReady', status: 'True', ...condition, isOfAnyGeneration: true }, ctx.now());
  if (condition.reason === 'Enforced' && condition.message !== '' && before?.message !== condition.message) {
    ctx.events.warning(agent, 'NetworkLimited', condition.message);
  }
  return {};
}

/** Said out loud on every agent: with this driver the network rules of the team hold for nobody. */
function notEnforced(driver: string): Omit<ConditionInput, 'type' | 'status'> {
  return { reason: 'NotEnforced', message: `the ${driver} driver does not isolate the network` };
}

export function proxyOnly(permissions: Permissions | undefined, reason: string): Omit<ConditionInput, 'type' | 'status'> {
  const wishes = unmetWithoutLinks(permissions);
  if (wishes.length === 0) return { reason: 'ProxyOnly', message: `no network but the proxy: ${reason}` };
  throw new StalledError(
    'NetworkUnavailable',
    `the team asks for ${wishes.join(', ')} but agents have no network here except the proxy: ${reason}`,
  );
}

export function enforced(agent: Agent, permissions: Permissions | undefined, hasUplink: boolean): Omit<ConditionInput, 'type' | 'status'> {
  const reason = 'Enforced';
  if (!permissions) return { reason, message: `there is no Team ${agent.spec.team}: nothing is allowed` };
  const wishes = unmetWithoutLinks({ ...permissions, allowInterAgent: false });
  if (hasUplink || wishes.length === 0) return { reason, message: '' };
  return { reason, message: `${wishes.join(' and ')} of the team open nothing: the network has no uplink` };
}

function unmetWithoutLinks(permissions: Permissions | undefined): string[] {
  return [
    ...(permissions?.allowInterAgent ? ['network.allowInterAgent'] : []),
    ...(permissions?.allowInternet ? ['network.allowInternet'] : []),
    ...((permissions?.allowCidrs ?? []).length > 0 ? ['network.allowCidrs'] : []),
  ];
}

function teamKey({ metadata, spec }: Agent): Key {
  return { kind: 'Team', namespace: metadata.namespace, name: spec.team };
}
