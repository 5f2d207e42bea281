/** What the agent controller needs from the rest of the daemon. */
import type { Agent } from '#api/types.ts';
import type { Driver } from '#drivers/driver.ts';
import type { Session, Sessions } from '#guest/sessions.ts';
import type { Wake, Watch } from '#runtime/controller.ts';
import type { Card } from './card.ts';

/** Where on the machine the agent's workspace belongs. */
export interface Place {
  /** The number of its team. */
  readonly team: number;
  /** Path of its network namespace; absent where the driver needs none. */
  readonly network?: string;
  /** Whether the egress proxy listens for it. */
  readonly egress: boolean;
  /** A tree the workspace begins as a copy of. */
  readonly base?: string;
}

export interface AgentDeps {
  /** Throws StalledError when nothing on this machine isolates as strongly as the agent asks for. */
  readonly driverFor: (agent: Agent) => Driver;
  readonly newIncarnation: () => string;
  /** Wakes an agent whose workspace or session changed. */
  readonly workspaceChanges: Wake;
  readonly watches?: readonly Watch[];
  readonly sessions: Sessions;
  readonly placeOf: (agent: Agent, driver: Driver) => Promise<Place>;
  /** Everything but the card, for the guest's `configure`. */
  readonly surroundingsOf: (agent: Agent) => Promise<Surroundings>;
  /** A variable of the daemon's own environment. */
  readonly hostEnv: (name: string) => string | undefined;
  /** Port forwards of a running agent; gives those in force. Throws StalledError for what cannot be had. */
  readonly forward: (agent: Agent, session: Session) => Promise<NonNullable<NonNullable<Agent['status']>['endpoints']>['portForwards']>;
  readonly writeCard: (agent: Agent, card: Card) => Promise<void>;
  /** How long a stop may take, by the agent's team. */
  readonly graceMsOf: (agent: Agent) => Promise<number>;
  /** The agent is gone: its mailbox, forwards, proxy and card go too. */
  readonly forget: (agent: Agent) => Promise<void>;
  /** The clock of heartbeats. */
  readonly monotonicMs: () => number;
}

/** What the guest is told about the world around it; told again when it changes. */
export interface Surroundings {
  readonly httpAddress: string | null;
  readonly agentToken: string;
  readonly teamToken: string | null;
  readonly peers: Readonly<Record<string, string>>;
}
