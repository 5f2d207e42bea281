/** What follows from a home and from an agent's number: addresses, names of links and of network namespaces. Pure. */
import { createHash } from 'node:crypto';
import { AgentisoError } from '#lib/errors.ts';

/** 10.99.0.0 and 10.99.0.1 are reserved, and so is 10.99.255.255. */
export const FIRST_AGENT = 2;
export const LAST_AGENT = 65_534;
export const AGENT_RANGE = '10.99.0.0/16';
/** The router's address on every link. */
export const GATEWAY = '169.254.1.1';
export const GATEWAY_MAC = 'ee:ee:ee:ee:ee:ee';

/** Eight hex digits of the home's real path: two homes never share a name, however their paths begin. */
export function homeHash(realPath: string): string {
  return createHash('sha256').update(realPath).digest('hex').slice(0, 8);
}

export function addressOf(agent: number): string {
  const [high, low] = bytesOf(agent);
  return `10.99.${high}.${low}`;
}

/** For a plain process, which has no address of its own. All homes share the machine's loopback, so each begins somewhere else on it. */
export function loopbackOf(home: string, agent: number): string {
  const count = LAST_AGENT - FIRST_AGENT + 1;
  const shifted = FIRST_AGENT + ((checked(agent) - FIRST_AGENT + Number.parseInt(home.slice(0, 4), 16)) % count);
  return `127.99.${shifted >> 8}.${shifted & 255}`;
}

export function macOf(agent: number): string {
  return ['52', '54', '00', '00', ...bytesOf(agent).map((byte) => byte.toString(16).padStart(2, '0'))].join(':');
}

/** The router's end of the link; the agent's end is eth0. */
export function linkOf(agent: number): string {
  return `ag${checked(agent)}`;
}

export function routerNamespace(home: string): string {
  return `agentiso-${home}`;
}

export function agentNamespace(home: string, agent: number): string {
  return `agentiso-${home}-${checked(agent)}`;
}

/** The number in the name of an agent's namespace of exactly this home; undefined for every other name. */
export function agentOfNamespace(home: string, name: string): number | undefined {
  return agentIn(name, `agentiso-${home}-`);
}

/** The number in the name of a link in the router namespace. */
export function agentOfLink(name: string): number | undefined {
  return agentIn(name, 'ag');
}

export interface Uplink {
  /** Interface on the host; the router's end is up0. */
  readonly link: string;
  readonly host: string;
  readonly router: string;
}

/** A /30 of 10.98.0.0/16 by the home, so that two homes on one machine are unlikely to meet. */
export function uplinkOf(home: string): Uplink {
  const base = (Number.parseInt(home.slice(0, 4), 16) % 16_384) * 4;
  const at = (offset: number): string => `10.98.${(base + offset) >> 8}.${(base + offset) & 255}`;
  return { link: `agiso-${home}`, host: at(1), router: at(2) };
}

function agentIn(name: string, prefix: string): number | undefined {
  if (!name.startsWith(prefix) || !/^[1-9]\d{0,4}$/.test(name.slice(prefix.length))) return undefined;
  const agent = Number(name.slice(prefix.length));
  return isAgent(agent) ? agent : undefined;
}

function bytesOf(agent: number): readonly [number, number] {
  const number = checked(agent);
  return [number >> 8, number & 255];
}

function checked(agent: number): number {
  if (isAgent(agent)) return agent;
  throw new AgentisoError('Internal', `${agent} is no agent's number; those are ${FIRST_AGENT} to ${LAST_AGENT}`);
}

function isAgent(agent: number): boolean {
  return Number.isInteger(agent) && agent >= FIRST_AGENT && agent <= LAST_AGENT;
}
