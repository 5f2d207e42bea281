import { expect, it } from 'vitest';
import type { Team } from '#api/types.ts';
import { largestOf, strongestOf } from './team-means.ts';

const roles = [
  { name: 'small', resources: { vcpus: 1, memoryMiB: 256, diskGiB: 1 } },
  { name: 'wide', resources: { vcpus: 4, memoryMiB: 128, diskGiB: 1 } },
];
const team = { spec: { isolation: { driver: 'vm' }, roles } } as unknown as Team;

it('is as strong as the best equipped of its agents, and usually not less than an agent is', () => {
  expect(strongestOf(team).spec).toMatchObject({ isolation: { driver: 'vm' }, resources: { vcpus: 4, memoryMiB: 512, diskGiB: 10 } });
});

it('is no larger than they are, where its disk becomes theirs', () => {
  expect(largestOf(team)).toEqual({ vcpus: 4, memoryMiB: 256, diskGiB: 1 });
});
