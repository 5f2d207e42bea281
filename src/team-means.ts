/** What stands for a whole team where a workspace is made for none of its agents. Pure. */
import type { Agent, Team } from '#api/types.ts';

/** As isolated as its agents, with the means of the best equipped of them. */
export function strongestOf({ spec: { isolation, roles } }: Team): Agent {
  const most = (of: 'vcpus' | 'memoryMiB' | 'diskGiB', least: number) =>
    Math.max(least, ...roles.map(({ resources }) => resources?.[of] ?? 0));
  const resources = { vcpus: most('vcpus', 2), memoryMiB: most('memoryMiB', 512), diskGiB: most('diskGiB', 10) };
  return { spec: { isolation, resources } } as unknown as Agent;
}
