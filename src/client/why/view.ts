/** The objects around the one that is asked about, found by what they are to each other. */
import { controllerOf, type KindObject } from '#api/meta.ts';
import { type Agent, shortName, type Task, type Team } from '#api/types.ts';
import { type EventObject, sortEvents } from '../events.ts';
import type { Complaint } from './server.ts';

export interface View {
  readonly objects: readonly KindObject[];
  /** Flags that commands need to get to the same place: `-n prod`. */
  readonly flags: readonly string[];
  /** What is wrong with the server itself. */
  readonly complaints: readonly Complaint[];
  find(kind: string, name: string): KindObject | undefined;
  agentsOf(team: string): readonly Agent[];
  tasksOf(team: string): readonly Task[];
  heldBy(agent: Agent): readonly Task[];
  /** Found out once for all who ask: thousands may wait for the same. */
  once<T>(question: string, findOut: () => T): T;
  /** The last thing that went wrong with it. */
  lastWarning(object: KindObject): EventObject | undefined;
}

export interface Surroundings {
  /** Of one namespace. */
  readonly objects: readonly KindObject[];
  readonly warnings?: readonly EventObject[];
  readonly flags?: readonly string[];
  readonly complaints?: readonly Complaint[];
}

export function viewOf({ objects, warnings = [], flags = [], complaints = [] }: Surroundings): View {
  const byName = new Map(objects.map((object) => [`${object.kind}/${object.metadata.name}`, object]));
  const agents = groupedBy(
    objects.filter((object): object is Agent => object.kind === 'Agent'),
    ({ spec }) => spec.team,
  );
  const tasks = objects.filter((object): object is Task => object.kind === 'Task');
  const byTeam = groupedBy(tasks, ({ spec }) => spec.team);
  const byOwner = groupedBy(tasks.filter(isHeld), ({ status }) => status?.owner ?? '');
  const sorted = sortEvents(warnings);
  const known = new Map<string, unknown>();
  return {
    objects,
    flags,
    complaints,
    find: (kind, name) => byName.get(`${kind}/${name}`),
    agentsOf: (team) => agents.get(team) ?? [],
    tasksOf: (team) => byTeam.get(team) ?? [],
    heldBy: ({ metadata }) => byOwner.get(metadata.name) ?? [],
    once<T>(question: string, findOut: () => T) {
      if (!known.has(question)) known.set(question, findOut());
      // Each question has one asker, and so one type.
      return known.get(question) as T;
    },
    lastWarning: ({ kind, metadata: { name, namespace } }) =>
      sorted.findLast(
        ({ involvedObject, metadata }) =>
          involvedObject?.kind === kind && involvedObject.name === name && (!namespace || metadata.namespace === namespace),
      ),
  };
}

export function findTeam(view: View, name: string): Team | undefined {
  return view.find('Team', name) as Team | undefined;
}

export function findAgent(view: View, name: string): Agent | undefined {
  return view.find('Agent', name) as Agent | undefined;
}

/** By full name, or by the short one inside the team. */
export function findTask(view: View, team: string, name: string): Task | undefined {
  return (view.find('Task', name) ?? view.find('Task', `${team}-${name}`)) as Task | undefined;
}

/** A Task that its owner has declared blocked is still its owner's. */
function isHeld({ status }: Task): boolean {
  return status?.owner !== undefined && ['Claimed', 'Running', 'Blocked'].includes(status.phase ?? '');
}

/** Everybody looks around, and there may be thousands. */
function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** As the task controller chooses: any agent of the team, or who is called what the task asks for. */
export function suits({ metadata, spec }: Agent, assignTo: string | undefined): boolean {
  if (assignTo === undefined) return true;
  return [metadata.name, shortName(spec.team, metadata.name), spec.roleName].includes(assignTo);
}

export function ownedBy(view: View, { metadata: { uid } }: KindObject): readonly KindObject[] {
  return view.objects.filter(({ metadata }) => (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid));
}

/** The Team that made it and keeps it as it says. */
export function makerOf(view: View, object: KindObject): Team | undefined {
  const owner = controllerOf(object);
  return owner?.kind === 'Team' ? findTeam(view, owner.name) : undefined;
}
