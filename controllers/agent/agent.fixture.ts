/** The agent controller with a driver and sessions that live in memory, on a clock that a test moves. */
import type { Agent } from '#api/types.ts';
import { bench, newAgent } from '../../test/support/controllers.ts';
import { type FakeDriverOptions, fakeDriver } from '../../test/support/fake-driver.ts';
import { fakeSessions } from '../../test/support/fake-sessions.ts';
import { agentController } from './controller.ts';
import type { AgentDeps } from './deps.ts';

/** An agent `one` of team `a` that nobody has looked at yet. */
export function setUp(options: FakeDriverOptions = {}) {
  const world = bench();
  const driver = fakeDriver(options);
  let incarnations = 0;
  let monotonicMs = 0;
  const sessions = fakeSessions(() => monotonicMs);
  const cards: unknown[] = [];
  const forgotten: string[] = [];
  const newController = (more: Partial<AgentDeps> = {}) =>
    agentController({
      driverFor: () => driver,
      newIncarnation: () => `run-${++incarnations}`,
      workspaceChanges: () => () => {},
      sessions,
      placeOf: async () => ({ team: 1, egress: false }),
      surroundingsOf: async () => ({ httpAddress: null, agentToken: 'a', teamToken: null, peers: {} }),
      hostEnv: (name) => (name === 'KEY' ? 'secret' : undefined),
      forward: async (agent) => (agent.spec.portForwards ?? []).map(({ guestPort }) => ({ guestPort, hostPort: 30_000 })),
      parentTeamOf: async () => null,
      writeCard: async (_agent, card) => void cards.push(card),
      graceMsOf: async () => 30_000,
      forget: async ({ metadata }) => void forgotten.push(metadata.name),
      monotonicMs: () => monotonicMs,
      ...more,
    });
  const controller = newController();
  const agent = () => world.get<Agent>('Agent', 'one');
  /** What the network controller would say. */
  const setNetwork = async (status: 'True' | 'False', reason = 'NotEnforced', message = '') => {
    const now = agent() as Agent;
    const condition = { type: 'NetworkReady', status, reason, message, lastTransitionTime: '2026-01-02T03:04:05Z' };
    const others = (now.status?.conditions ?? []).filter(({ type }) => type !== 'NetworkReady');
    await world.client.updateStatus<Agent>({ ...now, status: { ...now.status, conditions: [...others, condition] } });
  };
  const pass = (ms: number) => {
    monotonicMs += ms;
    world.pass(ms);
  };
  const look = (using = controller) => world.reconcile(using, 'Agent', 'one');
  return { ...world, driver, sessions, cards, forgotten, controller, newController, agent, setNetwork, pass, look };
}

/** The same, running. */
export async function running(options: FakeDriverOptions = {}, spec: Record<string, unknown> = {}) {
  const world = setUp(options);
  const { metadata } = await world.client.create<Agent>(newAgent('one', spec));
  await world.setNetwork('True');
  await world.look();
  return { ...world, id: metadata.uid };
}
