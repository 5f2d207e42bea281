/**
 * The rules as nft text. They are constant; teams and agents are only elements of their sets and maps. Pure.
 *
 * A packet is judged in both directions by the first packet of its connection (`ct original`), so taking a permission away also
 * ends what is already open, whatever its protocol. `meta mark` is first the team of the agent that began, then the relation
 * between the two ends. Nothing is kept in `ct mark`: the two directions of a connection may be judged at the same time.
 */
import { AgentisoError } from '#lib/errors.ts';
import { AGENT_RANGE, addressOf } from './addresses.ts';
import { checkAddress, normaliseCidrs } from './cidrs.ts';
import type { Policy, TeamPolicy } from './network.ts';

export const TABLE = 'inet agentiso';

/** Each with the text of its elements as nft prints them: key, or `key : value` in a map. */
export interface Elements {
  /** address : team */
  readonly team_of: readonly string[];
  /** team . address : relation, for every team whose agents may begin a connection to this address */
  readonly pair_of: readonly string[];
  /** Relations in which everything is allowed. */
  readonly open: readonly string[];
  /** relation . TCP port */
  readonly ports: readonly string[];
  /** Teams with internet. */
  readonly egress: readonly string[];
  /** team . range */
  readonly egress_to: readonly string[];
  /** Every address of the host. */
  readonly host: readonly string[];
}

export type SetName = keyof Elements;

export const SET_NAMES: readonly SetName[] = ['team_of', 'pair_of', 'open', 'ports', 'egress', 'egress_to', 'host'];

/** Single elements of a set of ranges cannot be deleted (nft 1.0.6): these are emptied and filled again. */
export const INTERVAL_SETS: ReadonlySet<SetName> = new Set(['egress_to']);

export const NO_ELEMENTS: Elements = { team_of: [], pair_of: [], open: [], ports: [], egress: [], egress_to: [], host: [] };

/** Above every team's number, so that a failed lookup in pair_of, which leaves the team in the mark, never looks like a relation. */
const RELATION = 0x100_0000;

/** Never reached, not even by allowCidrs: agents that do not exist, the links to the host, loopback. */
const NEVER = '10.98.0.0/16, 10.99.0.0/16, 127.0.0.0/8';
/** Not the internet: opened by allowCidrs only. */
const PRIVATE = '0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16, 224.0.0.0/3';

const TABLE_TEXT = `table ${TABLE} {
  map team_of {
    type ipv4_addr : mark
  }
  map pair_of {
    type mark . ipv4_addr : mark
  }
  set open {
    type mark
  }
  set ports {
    type mark . inet_service
  }
  set egress {
    type mark
  }
  set egress_to {
    type mark . ipv4_addr
    flags interval
  }
  set host {
    type ipv4_addr
  }
  counter spoofed {
  }
  counter ipv6 {
  }
  counter denied_between {
  }
  counter denied_egress {
  }
  counter denied_host {
  }
  chain check_source {
    type filter hook prerouting priority raw; policy accept;
    iifname "ag*" meta nfproto ipv6 counter name ipv6 drop
    iifname "ag*" fib saddr . iif oif missing counter name spoofed drop
  }
  chain refuse {
    meta l4proto tcp reject with tcp reset
    reject with icmpx admin-prohibited
  }
  chain refuse_between {
    counter name denied_between
    goto refuse
  }
  chain refuse_egress {
    counter name denied_egress
    goto refuse
  }
  chain between_agents {
    meta mark set meta mark . ct original ip daddr map @pair_of
    meta mark @open accept
    meta l4proto tcp meta mark . ct original proto-dst @ports accept
    goto refuse_between
  }
  chain errors_from_agents {
    meta mark set 0
    meta mark set ip saddr map @team_of
    meta mark set meta mark . ip daddr map @pair_of
    oifname "ag*" meta mark @open accept
    counter name denied_between drop
  }
  chain leaving {
    ct original ip daddr { ${NEVER} } goto refuse_egress
    ct original ip daddr @host goto refuse_egress
    meta mark . ct original ip daddr @egress_to accept
    ct original ip daddr { ${PRIVATE} } goto refuse_egress
    meta mark @egress accept
    goto refuse_egress
  }
  chain forward_agents {
    type filter hook forward priority filter; policy drop;
    ct state invalid,untracked drop
    iifname "ag*" ct state related goto errors_from_agents
    iifname != "ag*" ct direction original drop
    meta mark set 0
    meta mark set ct original ip saddr map @team_of
    iifname "ag*" oifname "ag*" goto between_agents
    meta mark 0 goto refuse_egress
    goto leaving
  }
  chain input_agents {
    type filter hook input priority filter; policy accept;
    iifname != "ag*" accept
    ct direction reply ct state established accept
    counter name denied_host
    meta l4proto tcp reject with tcp reset
    drop
  }
  chain translate {
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr ${AGENT_RANGE} oifname "up0" masquerade
  }
}
`;

/** The whole table, in one transaction, whatever was there before. */
export function renderRuleset(elements: Elements): string {
  const filled = SET_NAMES.map((name) => addElements(name, elements[name])).join('');
  // Adding the table first makes deleting it possible when there is none.
  return `add table ${TABLE}\ndelete table ${TABLE}\n${TABLE_TEXT}${filled}`;
}

export function addElements(set: SetName, elements: readonly string[]): string {
  return elements.length === 0 ? '' : `add element ${TABLE} ${set} { ${elements.join(', ')} }\n`;
}

/** Some teams and some agents of a policy. */
export interface Part {
  readonly teams: ReadonlySet<number>;
  readonly agents: ReadonlySet<number>;
}

/** What the sets must hold, or of it only what follows from one part. Only checked numbers and parsed addresses enter the text. */
export function elementsOf({ teams: all, members }: Policy, hostAddresses: readonly string[], part?: Part): Elements {
  const numbers = new Set(all.map(({ team }) => checkTeam(team)));
  const relations = relationsOf(all.filter(({ allowInterAgent }) => allowInterAgent));
  const known = members.filter(({ agent, team }) => numbers.has(team) && (part?.agents.has(agent) ?? true));
  const teams = part ? all.filter(({ team }) => part.teams.has(team)) : all;
  const talking = teams.filter(({ allowInterAgent }) => allowInterAgent);
  return {
    team_of: sorted(known.map(({ agent, team }) => `${addressOf(agent)} : ${team}`)),
    pair_of: sorted(
      known.flatMap(({ agent, team }) =>
        (relations.get(team) ?? []).map(({ from, number }) => `${from} . ${addressOf(agent)} : ${number}`),
      ),
    ),
    open: sorted(talking.filter(({ allowedPorts }) => allowedPorts.length === 0).map(({ team }) => `${RELATION + team}`)),
    ports: sorted(talking.flatMap(({ team, allowedPorts }) => allowedPorts.map((port) => `${RELATION + team} . ${checkPort(port)}`))),
    egress: sorted(teams.filter(({ allowInternet }) => allowInternet).map(({ team }) => `${team}`)),
    egress_to: sorted(teams.flatMap(({ team, allowCidrs }) => normaliseCidrs(allowCidrs).map((range) => `${team} . ${range}`))),
    host: sorted(hostAddresses.map(checkAddress)),
  };
}

interface Relation {
  /** The team whose agents may begin. */
  readonly from: number;
  readonly number: number;
}

/**
 * Who may reach the agents of each team. A team relates to itself, and to its parent by what it, the child, may do: so the
 * relation has the child's number.
 */
function relationsOf(talking: readonly TeamPolicy[]): ReadonlyMap<number, readonly Relation[]> {
  const relations = new Map<number, Relation[]>();
  const add = (to: number, from: number, number: number): void => {
    const known = relations.get(to);
    if (known) known.push({ from, number });
    else relations.set(to, [{ from, number }]);
  };
  for (const { team, parent } of talking) {
    const number = RELATION + team;
    add(team, team, number);
    if (parent === undefined) continue;
    add(team, checkTeam(parent), number);
    add(parent, team, number);
  }
  return relations;
}

function sorted(elements: readonly string[]): string[] {
  return [...new Set(elements)].sort();
}

function checkTeam(team: number): number {
  if (Number.isInteger(team) && team > 0 && team < RELATION) return team;
  throw new AgentisoError('Internal', `${team} is no team's number; those are 1 to ${RELATION - 1}`);
}

function checkPort(port: number): number {
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new AgentisoError('Invalid', `${port} is no TCP port; those are 1 to 65535`, { reason: 'RulesRejected' });
}
