/** What the agent controller needs from the rest of the daemon. */
import type { StartHold } from '#api/fleet.ts';
import type { Agent, Snapshot } from '#api/types.ts';
import type { Driver, MachineLink } from '#drivers/driver.ts';
import type { Session, Sessions } from '#guest/sessions.ts';
import type { Gate } from '#lib/gate.ts';
import type { MailboxState } from '#mail/mail.ts';
import type { Notices } from '#relay/notices.ts';
import type { Wake, Watch } from '#runtime/controller.ts';
import type { Card } from './card.ts';

type AgentWork = Partial<NonNullable<NonNullable<Agent['status']>['git']>>;

/** Of an agent's status.git: what was last brought to safety, all of it. */
export type SavedWork = Pick<AgentWork, 'head' | 'wip' | 'savedAt'>;

export interface Rescue {
  /** Where it is; absent when there was nothing to keep. */
  readonly ref?: string;
  readonly message: string;
}

/** Where on the machine the agent's workspace belongs. */
export interface Place {
  /** The number of its team. */
  readonly team: number;
  /** Path of its network namespace; absent where the driver needs none. */
  readonly network?: string;
  /** What a machine of its own is to be on that network. */
  readonly link?: MachineLink;
  /** What such a machine is started from. */
  readonly image?: string;
  /** Whether the egress proxy listens for it. */
  readonly egress: boolean;
  /** A tree the workspace begins as a copy of. */
  readonly base?: string;
  /** What that tree is in git. */
  readonly git?: AgentWork;
  /** The backend that is really used: that of the spec, or its fallback. */
  readonly backend?: string;
  /** The directory of coding agents, where the backend is one, and the folder of it that the backend is in. */
  readonly tools?: string;
  readonly toolFolder?: string;
}

export interface AgentDeps {
  /** Throws StalledError when nothing on this machine isolates as strongly as the agent asks for. */
  readonly driverFor: (agent: Agent) => Driver;
  /** Why the agent cannot be started now: no team, no room on this machine. Undefined, or absent: it can. */
  readonly mayStart?: (agent: Agent) => StartHold | undefined;
  /** Forks whose files are copied, among whatever else starts at once. Absent: as many as there are. */
  readonly starts?: Gate;
  readonly newIncarnation: () => string;
  /** Wakes an agent whose workspace or session changed. */
  readonly workspaceChanges: Wake;
  readonly watches?: readonly Watch[];
  readonly sessions: Sessions;
  readonly placeOf: (agent: Agent, driver: Driver) => Promise<Place>;
  /** Of its place, what a suspended machine needs to go on; absent: it has no network. */
  readonly linkOf?: (agent: Agent, driver: Driver) => Promise<Pick<Place, 'network' | 'link'>>;
  /** What it has written is on its disk, and what it has committed in safety, as far as that can be done now. Absent: there is nothing to do. */
  readonly settle?: (agent: Agent, signal: AbortSignal) => Promise<unknown>;
  /** Everything but the card, for the guest's `configure`. */
  readonly surroundingsOf: (agent: Agent) => Promise<Surroundings>;
  /** A variable of the daemon's own environment. */
  readonly hostEnv: (name: string) => string | undefined;
  /** Port forwards of a running agent; gives those in force. Throws StalledError for what cannot be had. */
  readonly forward: (agent: Agent, session: Session) => Promise<NonNullable<NonNullable<Agent['status']>['endpoints']>['portForwards']>;
  /** Before the first task of a run: what its workspace needs and only its guest can do. */
  readonly prepare?: (agent: Agent, session: Session) => Promise<void>;
  /** Before a workspace goes: what is in it and nowhere else is kept. Rejects when that cannot be done now. Absent: nothing is kept. */
  readonly rescue?: (agent: Agent, driver: Driver, signal: AbortSignal) => Promise<Rescue>;
  /** What of its work was last brought to safety. */
  readonly workOf?: (agent: Agent) => SavedWork | undefined;
  /** By its name; undefined when there is none. */
  readonly snapshotOf?: (namespace: string, name: string) => Promise<Snapshot | undefined>;
  /** What new members of the agent's team begin with; undefined: with what their team works on. */
  readonly goldenOf?: (agent: Agent) => Promise<Golden | undefined>;
  /** What the files of a snapshot are a layer over becomes the base of an agent that begins with them. */
  readonly takeBase?: (snapshotUid: string, agentUid: string) => Promise<void>;
  /** The team that the agent's own is nested in. */
  readonly parentTeamOf: (agent: Agent) => Promise<string | null>;
  readonly writeCard: (agent: Agent, card: Card) => Promise<void>;
  /** How long a stop may take, by the agent's team. */
  readonly graceMsOf: (agent: Agent) => Promise<number>;
  /** The agent is gone: its mailbox, forwards, proxy and card go too. */
  readonly forget: (agent: Agent) => Promise<void>;
  /** Absent where agents have no mail. */
  readonly inbox?: Inboxes;
  readonly notices?: Notices;
  /** How many Tasks it has claimed that do not run in its guest; none when absent. */
  readonly pulledTasks?: (agent: Agent) => number;
  /** How many Tasks are its by assignment: its guest tells of them only with the next heartbeat. None when absent. */
  readonly assignedTasks?: (agent: Agent) => number;
  /** Undefined: it has no Task that waits for its plan to be approved. */
  readonly planOf?: (agent: Agent) => PlanPhase | undefined;
  /** The clock of heartbeats. */
  readonly monotonicMs: () => number;
}

export interface PlanPhase {
  /** The Task whose plan has not been approved. */
  readonly task: string;
  /** It has another Task that needs no plan, or none any more. */
  readonly isShared: boolean;
}

/** The golden snapshot of a team. */
export interface Golden {
  /** Whose snapshot it is to be, as the Team says; absent: the team prepares it. */
  readonly from?: string;
  readonly name: string;
  /** Undefined: it is not there. */
  readonly snapshot: Snapshot | undefined;
}

/** What is in the inboxes of agents, and what agents say they do. A view that changes now and then, not with every message. */
export interface Inboxes {
  /** Undefined: it cannot be told now. */
  look(agent: Agent): Promise<InboxView | undefined>;
  /** A view has changed. */
  readonly changes: Wake;
  forget(uid: string): void;
}

export interface InboxView {
  readonly mailbox: MailboxState;
  readonly isFull: boolean;
  /** Absent: what the status has is still so. */
  readonly progress?: { readonly text: string; readonly time: string };
  readonly lastActivity?: string;
}

/** What the guest is told about the world around it; told again when it changes. */
export interface Surroundings {
  readonly httpAddress: string | null;
  readonly agentToken: string;
  readonly teamToken: string | null;
  readonly peers: Readonly<Record<string, string>>;
}
