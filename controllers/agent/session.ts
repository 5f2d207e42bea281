/** The session with the guest of a running workspace: told where it is, given its secrets and ports, listened to. */
import type { Agent } from '#api/types.ts';
import type { Session, SessionState } from '#guest/sessions.ts';
import { StalledError, UnavailableError } from '#lib/errors.ts';
import { equalJson } from '#lib/json.ts';
import type { WithStatus } from '#runtime/controller.ts';
import { cardOf, RELAY_PORT } from './card.ts';
import type { AgentDeps } from './deps.ts';

/** Of the guest's HTTP interface. */
const HTTP_PORT = 8080;

/** After so long without a sign of life an incarnation is dead. */
export const HEARTBEAT_LIMIT_MS = 30_000;

/** A guest that runs answers at once; on a busy machine, or among a thousand others, it takes a moment. */
export const CONNECTING_MS = 5_000;

/** What each session's guest was last told: a guest that is told the same again has work for nothing. */
const told = new WeakMap<Session, { configured?: unknown; env?: unknown; access?: unknown }>();

const begunMs = new WeakMap<Session, number>();

export async function ensureSession(agent: WithStatus<Agent>, deps: AgentDeps): Promise<Session> {
  const session = deps.sessions.ensure(agent.metadata.uid, agent.status.incarnation ?? '');
  if (!begunMs.has(session)) begunMs.set(session, deps.monotonicMs());
  if (!session.state.isControlOpen) return session;
  await ensureEnv(agent, session, deps);
  const portForwards = (await deps.forward(agent, session)) ?? [];
  const { portForwards: _before, ...endpoints } = agent.status.endpoints ?? {};
  agent.status.endpoints = { ...endpoints, relayPort: RELAY_PORT, ...(portForwards.length > 0 ? { portForwards } : {}) };
  return session;
}

async function ensureEnv(agent: Agent, session: Session, { hostEnv }: AgentDeps): Promise<void> {
  const missing = missingSecret(agent, hostEnv);
  if (missing !== undefined) throw missing;
  const env = Object.fromEntries(secretNames(agent).map((name) => [name, hostEnv(name) ?? '']));
  const before = told.get(session);
  if (Object.keys(env).length === 0 || equalJson(before?.env, env)) return;
  await session.call('setEnv', { env });
  told.set(session, { ...before, env });
}

export function missingSecret(agent: Agent, hostEnv: AgentDeps['hostEnv']): StalledError | undefined {
  const missing = secretNames(agent).filter((name) => hostEnv(name) === undefined);
  if (missing.length === 0) return undefined;
  return new StalledError('SecretMissing', `the daemon's environment has no ${missing.join(', ')}`, {
    hint: 'start agentiso with these variables set',
  });
}

function secretNames({ spec }: Agent): string[] {
  return (spec.envFrom ?? []).map(({ hostEnv }) => hostEnv);
}

/** Last in a pass, because the card shows what the pass has found out. */
export async function ensureConfigured(agent: WithStatus<Agent>, session: Session, deps: AgentDeps): Promise<void> {
  if (!session.state.isControlOpen) return;
  const surroundings = await deps.surroundingsOf(agent);
  const { httpAddress, teamToken } = surroundings;
  const url = teamToken === null || httpAddress === null ? null : `http://${httpAddress}:${HTTP_PORT}`;
  const card = cardOf(agent, { url, parentTeam: await deps.parentTeamOf(agent) });
  const wanted = { ...surroundings, card, maxTasks: agent.spec.maxConcurrentTasks ?? 4 };
  const before = told.get(session);
  if (equalJson(before?.configured, wanted)) return;
  const access = {
    AGENTISO_HTTP_URL: `http://${httpAddress ?? '127.0.0.1'}:${HTTP_PORT}`,
    AGENTISO_AGENT_TOKEN: surroundings.agentToken,
    AGENTISO_TEAM_TOKEN: teamToken ?? '',
    AGENTISO_AGENT: agent.metadata.name,
    AGENTISO_TEAM: agent.spec.team,
  };
  // As secrets are given, never on disk; and first, because tasks that wait begin once the guest is configured.
  if (!equalJson(before?.access, access)) await session.call('setEnv', { env: access });
  const { httpProblem } = await session.call('configure', wanted);
  if (httpProblem !== undefined) throw new UnavailableError(`the guest cannot serve HTTP: ${httpProblem}`, { reason: 'HttpBindFailed' });
  agent.status.endpoints = { ...agent.status.endpoints, http: url };
  told.set(session, { ...before, configured: wanted, access });
}

export function sessionAgeMs(session: Session | undefined, nowMs: number): number {
  return session === undefined ? 0 : nowMs - (begunMs.get(session) ?? nowMs);
}

export function heartbeatAgeMs({ lastHeartbeatMs }: SessionState, nowMs: number): number {
  return nowMs - lastHeartbeatMs;
}

/** A session that has just begun: no connection yet, and none that failed or was lost. */
export function isConnecting(state: SessionState, nowMs: number): boolean {
  const isOpen = state.isControlOpen && state.isRelayOpen;
  return !isOpen && state.error === undefined && state.heartbeat === undefined && heartbeatAgeMs(state, nowMs) < CONNECTING_MS;
}

export function isHeartbeatLost(state: SessionState, nowMs: number): boolean {
  return heartbeatAgeMs(state, nowMs) > HEARTBEAT_LIMIT_MS;
}
