/** Agents of several teams on one network, as the tests of packets need them. */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { Member, Policy, TeamPolicy } from '#network/network.ts';
import { type Agent, type Lab, startLab } from './network-world.ts';

/** Of the namespaces of the home with this name in a lab. */
export const hashOf = (home: string) => createHash('sha256').update(`/run/homes/${home}`).digest('hex').slice(0, 8);

/** red has a child with a child of its own, and a second child; blue stands alone. */
export const TEAM = { red: 1, blue: 2, child: 3, grandchild: 4, sibling: 5 };
export const NUMBER = { red1: 2, red2: 3, blue1: 4, blue2: 5, child: 6, grandchild: 7, sibling: 8, outsider: 9 } as const;
export type Name = keyof typeof NUMBER;
export const NAMES = Object.keys(NUMBER) as Name[];
export const addressOf = (name: Name) => `10.99.0.${NUMBER[name]}`;

export function team(number: number, rest: Partial<TeamPolicy> = {}): TeamPolicy {
  return { team: number, allowInterAgent: true, allowedPorts: [8080], allowInternet: false, allowCidrs: [], ...rest };
}

export const TEAMS = [
  team(TEAM.red),
  team(TEAM.blue, { allowedPorts: [] }),
  team(TEAM.child, { parent: TEAM.red }),
  team(TEAM.grandchild, { parent: TEAM.child }),
  team(TEAM.sibling, { parent: TEAM.red }),
];
export const MEMBERS: Member[] = [
  { agent: NUMBER.red1, team: TEAM.red },
  { agent: NUMBER.red2, team: TEAM.red },
  { agent: NUMBER.blue1, team: TEAM.blue },
  { agent: NUMBER.blue2, team: TEAM.blue },
  { agent: NUMBER.child, team: TEAM.child },
  { agent: NUMBER.grandchild, team: TEAM.grandchild },
  { agent: NUMBER.sibling, team: TEAM.sibling },
];
export const POLICY: Policy = { teams: TEAMS, members: MEMBERS };

export function withTeam(number: number, change: Partial<TeamPolicy>): Policy {
  return { ...POLICY, teams: TEAMS.map((each) => (each.team === number ? { ...each, ...change } : each)) };
}

export interface TeamsLab {
  readonly lab: Lab;
  readonly agents: Readonly<Record<Name, Agent>>;
  /** The path of the router's namespace. */
  readonly router: string;
  inRouter(command: string): ReturnType<Lab['sh']>;
  inAgent(name: Name, command: string): ReturnType<Lab['sh']>;
  connect(from: Name, to: Name, port?: number): ReturnType<Agent['connect']>;
}

/** All of them have their links, and answer on two ports by TCP and on one by UDP; no policy is in force yet. */
export async function startTeams(): Promise<TeamsLab> {
  const lab = await startLab();
  const router = `/run/netns/agentiso-${hashOf('main')}`;
  expect(await lab.create('main')).toEqual({ mode: 'nftables', reason: '' });
  const agents = {} as Record<Name, Agent>;
  await Promise.all(
    NAMES.map(async (name) => {
      const { address, namespace } = await lab.ensureLink('main', NUMBER[name]);
      expect({ address, namespace }).toEqual({ address: addressOf(name), namespace: `${router}-${NUMBER[name]}` });
      agents[name] = await lab.enter(name, namespace);
      await agents[name].listen(8080);
      await agents[name].listen(9090);
      await agents[name].udpEcho(7000);
    }),
  );
  return {
    lab,
    agents,
    router,
    inRouter: (command) => lab.sh(`nsenter --net=${router} -- ${command}`),
    inAgent: (name, command) => lab.sh(`nsenter --net=${router}-${NUMBER[name]} -- ${command}`),
    connect: (from, to, port = 8080) => agents[from].connect(addressOf(to), port),
  };
}
