/** What a Team asks for, as the Agents and Tasks it should have. Pure. */
import { API_VERSION, type Draft } from '#api/meta.ts';
import type { Agent, Team } from '#api/types.ts';

/** What an agent is told by others than its role: the team does not touch it. */
type NotOfRole = 'desiredState' | 'maxConcurrentTasks';

/** `<team>-<role>` for one agent of a role, `<team>-<role>-1` … for several. */
export function agentsOf(team: Team): Draft[] {
  return team.spec.roles.flatMap(({ name, count, ...role }) =>
    Array.from({ length: count }, (_, index) => {
      const suffix = count === 1 ? '' : `-${index + 1}`;
      const spec = {
        team: team.metadata.name,
        roleName: name,
        ...role,
        isolation: team.spec.isolation,
      } satisfies Omit<Agent['spec'], NotOfRole>;
      return {
        apiVersion: API_VERSION,
        kind: 'Agent',
        metadata: { name: `${team.metadata.name}-${name}${suffix}`, namespace: team.metadata.namespace },
        spec,
      };
    }),
  );
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

/** Fields this version stores but does not act on; refusing them is better than pretending. */
export function unsupportedFields({ spec }: Team): string[] {
  const asked: [string, boolean][] = [
    ['spec.parent', typeof spec.parent === 'string'],
    ['spec.repo', spec.repo !== undefined],
    ['spec.golden', spec.golden !== undefined],
    ['spec.merge', spec.merge !== undefined],
    ['spec.suspend', spec.suspend],
  ];
  return asked.filter(([, isAsked]) => isAsked).map(([field]) => field);
}
