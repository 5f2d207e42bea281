/**
 * Team: the Agents of its roles and the Tasks of its list, made and kept as the spec says.
 * Owns the condition Ready. Deleting a Team deletes what it made, by owner reference.
 */
import type { Draft, KindObject } from '#api/meta.ts';
import type { Agent, Task, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound, StalledError } from '#lib/errors.ts';
import { copyJson, equalJson } from '#lib/json.ts';
import { setCondition } from '#runtime/conditions.ts';
import type { Controller, Key } from '#runtime/controller.ts';
import { ownedBy, setControllerOwner } from '#runtime/owner.ts';
import { agentsOf, tasksOf, unsupportedFields } from './expand.ts';
import { membersOf, phaseOf, readyCondition, taskSummaryOf } from './summary.ts';

/** A team may have thousands of tasks, and each look counts them all. */
const TASKS_DELAY_MS = 100;

export interface TeamDeps {
  readonly client: Client;
}

export function teamController({ client }: TeamDeps): Controller<Team> {
  return {
    name: 'team',
    kind: 'Team',
    watches: [
      { kind: 'Agent', toKeys: teamKey },
      { kind: 'Task', toKeys: teamKey, delayMs: TASKS_DELAY_MS },
    ],
    async reconcile(team, ctx) {
      const unsupported = unsupportedFields(team);
      if (unsupported.length > 0) {
        team.status.phase ??= 'Creating';
        throw new StalledError('NotSupportedYet', `this version does not act on ${unsupported.join(', ')}; remove it to start the team`);
      }
      const wanted = agentsOf(team);
      refuseNamesakes(wanted);
      const tasksWanted = tasksOf(team);
      await ensureChildren(client, team, [...wanted, ...tasksWanted]);
      await removeSurplus(client, team, [...wanted, ...tasksWanted]);
      const agents = await membersIn<Agent>(client, team, 'Agent');
      const tasks = taskSummaryOf(await membersIn<Task>(client, team, 'Task'));
      const ready = readyCondition(wanted.length, agents);
      const used = agents.length;
      const budget = { used, reserved: 0, remaining: team.spec.budget.maxAgents - used };
      Object.assign(team.status, {
        phase: phaseOf(ready, tasks),
        members: membersOf(team, agents),
        taskSummary: tasks,
        budget,
        observedGeneration: team.metadata.generation,
      });
      setCondition(team, ready, ctx.now());
      return {};
    },
  };
}

/** `dev` with count 2 and `dev-1` both want `<team>-dev-1`. */
function refuseNamesakes(wanted: readonly Draft[]): void {
  const names = wanted.map(({ metadata }) => metadata.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw new StalledError('NameTaken', `two roles give an agent the name ${twice}; rename one of them`);
}

/** Makes what is missing and brings back what drifted; what is not ours is reported, never adopted. */
async function ensureChildren(client: Client, team: Team, wanted: readonly Draft[]): Promise<void> {
  for (const draft of wanted) {
    const child = copyJson(draft);
    setControllerOwner(child, team);
    const key = { kind: child.kind, namespace: team.metadata.namespace, name: child.metadata.name ?? '' };
    const existing = await ignoreNotFound(client.get<KindObject>(key));
    if (!existing) await client.create(child);
    else if (!ownedBy(existing, team)) {
      throw new StalledError('NameTaken', `${key.kind} ${key.name} exists and does not belong to this team; delete or rename it`);
    } else if (existing.metadata.deletionTimestamp === undefined && !isAsWanted(existing, child)) {
      await client.update({ ...existing, spec: { ...(existing.spec as object), ...(child.spec as object) } });
    }
  }
}

/** Admission adds defaults the draft does not have: compare what the draft says, no more. */
function isAsWanted(existing: KindObject, draft: Draft): boolean {
  return equalJson(existing.spec, { ...(existing.spec as object), ...(draft.spec as object) });
}

/** What the spec no longer asks for goes, but not from under a running task: its end brings the next look. */
async function removeSurplus(client: Client, team: Team, wanted: readonly Draft[]): Promise<void> {
  const names = new Set(wanted.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
  const tasks = await membersIn<Task>(client, team, 'Task');
  const held = tasks.filter(({ status }) => status?.phase === 'Claimed' || status?.phase === 'Running');
  const inUse = new Set(held.flatMap(({ metadata, status }) => [`Task ${metadata.name}`, `Agent ${status?.owner}`]));
  for (const member of [...(await membersIn<Agent>(client, team, 'Agent')), ...tasks]) {
    const { namespace, name, uid, deletionTimestamp } = member.metadata;
    const id = `${member.kind} ${name}`;
    if (!ownedBy(member, team) || names.has(id) || inUse.has(id) || deletionTimestamp !== undefined) continue;
    await ignoreNotFound(client.delete({ kind: member.kind, namespace, name }, { preconditions: { uid } }));
  }
}

async function membersIn<T extends KindObject>(client: Client, { metadata }: Team, kind: string): Promise<readonly T[]> {
  return (await client.list<T>(kind, { namespace: metadata.namespace, fieldSelector: `spec.team=${metadata.name}` })).items;
}

function teamKey(object: KindObject): Key[] {
  return [{ kind: 'Team', namespace: object.metadata.namespace, name: (object as Agent | Task).spec.team }];
}
