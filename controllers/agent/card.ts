/** The card of an agent: an A2A card, with what a team mate wants to know besides. A view of the object, never a second truth. Pure. */
import { type Agent, shortName } from '#api/types.ts';

/** The logical port of the message relay. */
export const RELAY_PORT = 5001;

export type Card = ReturnType<typeof cardOf>;

type Phase = NonNullable<NonNullable<Agent['status']>['phase']>;

export interface CardPlace {
  /** Where its HTTP interface really listens for others; null when nobody else can reach it. */
  readonly url: string | null;
  /** The team that its own is nested in. */
  readonly parentTeam: string | null;
}

export function cardOf({ metadata, spec, status }: Agent, { url, parentTeam }: CardPlace) {
  const name = shortName(spec.team, metadata.name);
  return {
    protocolVersion: '1.0',
    name,
    description: spec.description ?? '',
    url,
    version: '1',
    capabilities: { streaming: false, pushNotifications: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: (spec.skills ?? []).map((skill) => ({ id: skill, name: skill, description: skill, tags: [skill] })),
    uid: metadata.uid,
    role: spec.role ?? spec.roleName ?? name,
    team: spec.team,
    parent_team: parentTeam,
    protocols: url === null ? ['relay'] : ['relay', 'http'],
    endpoints: { http: url, relayPort: RELAY_PORT },
    ...runOf(metadata.uid, status),
    input_schema: spec.inputSchema ?? {},
    output_schema: spec.outputSchema ?? {},
    model: spec.model ?? null,
  };
}

/** What changes from run to run. */
function runOf(uid: string, status: Agent['status']) {
  return {
    incarnation: status?.incarnation ?? '',
    workspace_id: status?.workspaceId ?? uid,
    isolation: status?.isolation ?? {},
    status: cardStatus(status?.phase ?? 'Pending'),
    last_heartbeat: status?.lastHeartbeat ?? null,
  };
}

/** Of one that does not run nobody reaches anything, whatever was last known of it. */
export function urlOf({ status }: Agent): string | null {
  const isUp = status?.phase === 'Ready' || status?.phase === 'Working';
  return isUp ? (status.endpoints?.http ?? null) : null;
}

export function cardStatus(phase: Phase): 'initializing' | 'ready' | 'working' | 'done' | 'failed' {
  switch (phase) {
    case 'Pending':
    case 'Starting':
      return 'initializing';
    case 'Ready':
    case 'Suspended':
      return 'ready';
    case 'Working':
    case 'Stopping':
      return 'working';
    case 'Stopped':
      return 'done';
    case 'Failed':
      return 'failed';
  }
}
