import { expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import { hostnameOf } from './hostname.ts';

const agent = (name: string, team: string) => ({ metadata: { name, uid: 'u-1' }, spec: { team } }) as Agent;

it.each([
  ['sprint-coder', 'sprint', 'sprint-coder'],
  ['helper', 'sprint', 'sprint-helper'],
  ['sprinter', 'sprint', 'sprint-sprinter'],
])('of %s in team %s is %s', (name, team, want) => {
  expect(hostnameOf(agent(name, team))).toBe(want);
});

it('of a long name is cut, and another one for another agent', () => {
  const long = `team-${'x'.repeat(58)}`;
  const cut = hostnameOf({ ...agent(long, 'team-of-many'), metadata: { name: long, uid: 'u-2' } } as Agent);
  expect(cut).toMatch(/^[a-z0-9-]{1,54}-[0-9a-f]{8}$/);
  expect(cut.length).toBeLessThanOrEqual(63);
  expect(hostnameOf(agent(long, 'team-of-many'))).not.toBe(cut);
});
