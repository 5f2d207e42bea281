/** What a Team asks for, as the Agents and Tasks it should have. Pure. */
import { API_VERSION, type Draft } from '#api/meta.ts';
import { agentNamesOf } from '#api/team-budget.ts';
import type { EffectivePolicy } from '#api/team-rules.ts';
import type { Agent, Team } from '#api/types.ts';

/** What an agent is told by others than its role: the team touches it only to suspend. Of places, unless its role says how many. */
type NotOfRole = 'desiredState' | 'maxConcurrentTasks';

/** Never less isolated than the ancestors of the team ask for. */
export function agentsOf(team: Team, { minimum }: Pick<EffectivePolicy, 'minimum'> = team.spec.isolation): Draft[] {
  const names = agentNamesOf(team);
  const isolation = { ...team.spec.isolation, minimum };
  const specs = team.spec.roles.flatMap(({ name, count, ...role }) => {
    const spec = { team: team.metadata.name, roleName: name, ...role, isolation } satisfies Omit<Agent['spec'], NotOfRole>;
    return Array.from({ length: count }, () => spec);
  });
  return specs.map((spec, index) => ({
    apiVersion: API_VERSION,
    kind: 'Agent',
    metadata: { name: names[index] ?? '', namespace: team.metadata.namespace },
    spec,
  }));
}

export function tasksOf(team: Team): Draft[] {
  return (team.spec.tasks ?? []).map(({ name, cancelled, ...task }) => ({
    apiVersion: API_VERSION,
    kind: 'Task',
    metadata: { name: `${team.metadata.name}-${name}`, namespace: team.metadata.namespace },
    // A task may be cancelled in the team or on its own; the team does not take the latter back.
    spec: { team: team.metadata.name, ...task, ...(cancelled ? { cancelled } : {}) },
  }));
}
