import { expect, it } from 'vitest';
import type { Agent, Team } from '#api/types.ts';
import type { JsonObject } from '#lib/json.ts';
import { bench, newAgent, newTeam } from '../../test/support/controllers.ts';
import { permissionsOf, teamOfAgent } from './policy.ts';
import { teamsAround } from './team-chain.ts';

async function around(team: string, teams: Record<string, JsonObject>) {
  const { client } = bench();
  for (const [name, spec] of Object.entries(teams)) await client.create<Team>(newTeam(name, spec));
  const agent = await client.create<Agent>(newAgent('one', { team }));
  const found = await teamsAround(client, agent);
  const own = teamOfAgent(agent, found);
  return { names: [...found.values()].map(({ metadata }) => metadata.name), permissions: own && permissionsOf(own, found) };
}

const open = { allowInterAgent: true, allowedPorts: [8080] };

it('are the team and all above it, and no others', async () => {
  const { names, permissions } = await around('a', {
    other: { network: open },
    top: { network: { allowInterAgent: true, allowedPorts: [8080, 9090] } },
    middle: { network: open, parent: 'top' },
    a: { network: open, parent: 'middle' },
    below: { network: open, parent: 'a' },
  });
  expect(names).toEqual(['a', 'middle', 'top']);
  expect(permissions).toMatchObject(open);
});

it.each([
  { name: 'a team that is not there', team: 'nobody', teams: {}, names: [], permissions: undefined },
  { name: 'a parent that is not there', team: 'a', teams: { a: { network: open, parent: 'gone' } }, names: ['a'] },
  { name: 'a ring', team: 'a', teams: { a: { network: open, parent: 'b' }, b: { network: open, parent: 'a' } }, names: ['a', 'b'] },
])('$name allows nothing', async ({ team, teams, names, permissions = teams.a && { allowInterAgent: false } }) => {
  const found = await around(team, teams as Record<string, JsonObject>);
  expect(found.names).toEqual(names);
  if (permissions) expect(found.permissions).toMatchObject(permissions);
  else expect(found.permissions).toBeUndefined();
});
