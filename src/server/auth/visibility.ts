/** Which objects an identity may see. Pure; lists and watches ask it for every object that they would show. */
import { API_VERSION, type KindObject } from '#api/meta.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { TEAM_LABEL } from '../pods/project.ts';
import type { AgentIdentity, Identity } from './identity.ts';

/** What an Event is about. */
export interface ObjectReference {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
}

/** Finds the object that an Event is about. Without it, an agent sees the Events of its Team only. */
export type Lookup = (reference: ObjectReference) => KindObject | undefined;

export function canSee(identity: Identity, object: KindObject, lookup?: Lookup): boolean {
  if (identity.role !== 'agent') return true;
  const { agent } = identity;
  if (agent === undefined || object.metadata.namespace !== agent.namespace) return false;
  return object.kind === 'Event' ? isAboutTeam(agent, object, lookup) : isOfTeam(agent, object);
}

/** By what the object says, never by the start of its name: `a-b-1` may belong to team `a` or to team `a-b`. */
export function isOfTeam({ team, namespace }: AgentIdentity, { apiVersion, kind, metadata, spec }: KindObject): boolean {
  if (metadata.namespace !== namespace) return false;
  // The server itself writes this label into what it shows of an agent.
  if (apiVersion === 'v1' && kind === 'Pod') return metadata.labels?.[TEAM_LABEL] === team;
  if (apiVersion !== API_VERSION) return false;
  if (kind === 'Team') return metadata.name === team;
  return TEAM_KINDS.includes(kind) && isObject(spec) && spec['team'] === team;
}

const TEAM_KINDS = ['Agent', 'Task', 'Merge', 'Snapshot'];

function isAboutTeam(agent: AgentIdentity, event: KindObject, lookup: Lookup | undefined): boolean {
  const reference = referenceOf(event);
  if (reference === undefined || reference.namespace !== agent.namespace) return false;
  if (reference.kind === 'Team') return reference.apiVersion === API_VERSION && reference.name === agent.team;
  const subject = lookup?.(reference);
  // Another object may have taken the name since.
  const isSame = subject !== undefined && (reference.uid === undefined || reference.uid === subject.metadata.uid);
  return isSame && isOfTeam(agent, subject);
}

/** Under the name of core/v1, or that of events.k8s.io. */
function referenceOf(
  event: KindObject & { involvedObject?: unknown; regarding?: unknown },
): (ObjectReference & { apiVersion: unknown }) | undefined {
  const reference = event.involvedObject ?? event.regarding;
  return isObject(reference) ? parsedReference(reference) : undefined;
}

function parsedReference({ apiVersion, kind, namespace, name, uid }: JsonObject): (ObjectReference & { apiVersion: unknown }) | undefined {
  if (typeof kind !== 'string' || typeof namespace !== 'string' || typeof name !== 'string') return undefined;
  return { apiVersion, kind, namespace, name, ...(typeof uid === 'string' ? { uid } : {}) };
}
