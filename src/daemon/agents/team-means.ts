/** What stands for a whole team where a workspace is made for none of its agents. Pure. */
import type { Agent, Team } from '#api/types.ts';

type Means = 'vcpus' | 'memoryMiB' | 'diskGiB';

/** As isolated as its agents, with the means of the best equipped of them. */
export function strongestOf({ spec: { isolation, roles } }: Team): Agent {
  const most = (of: Means, least: number) => Math.max(least, ...roles.map(({ resources }) => resources?.[of] ?? 0));
  const resources = { vcpus: most('vcpus', 2), memoryMiB: most('memoryMiB', 512), diskGiB: most('diskGiB', 10) };
  return { spec: { isolation, resources } } as unknown as Agent;
}

/** No more than that: a machine is a copy of one that its members are copies of, too, and its disk becomes theirs. */
export function largestOf({ spec: { roles } }: Team): Required<Pick<Agent['spec']['resources'], Means>> {
  const most = (of: Means) => Math.max(...roles.map(({ resources }) => resources[of]));
  return { vcpus: most('vcpus'), memoryMiB: most('memoryMiB'), diskGiB: most('diskGiB') };
}
