/** The contract of the network room: one link per agent, one set of rules for all of them. */
import type { ProcessIdentity } from '#lib/process-identity.ts';

/** What one team may do, already narrowed by its parents. */
export interface TeamPolicy {
  /** The team's number. */
  readonly team: number;
  readonly allowInterAgent: boolean;
  /** TCP ports members reach each other on; empty means all. */
  readonly allowedPorts: readonly number[];
  readonly allowInternet: boolean;
  /** Ranges that are open although they are private or internet is off. */
  readonly allowCidrs: readonly string[];
  /** The parent's number; traffic between both is allowed when `allowInterAgent` of this team is. */
  readonly parent?: number;
}

export interface Member {
  /** The agent's number: its address and its link follow from it. */
  readonly agent: number;
  readonly team: number;
}

/** Everything the rules say. What is not in it is denied. */
export interface Policy {
  readonly teams: readonly TeamPolicy[];
  readonly members: readonly Member[];
}

export interface Link {
  readonly agent: number;
  readonly address: string;
  readonly mac: string;
  /** The other end, and the only one there is. */
  readonly gateway: string;
  readonly gatewayMac: string;
  /** Path of the agent's network namespace, for the driver. */
  readonly namespace: string;
}

export type FindFirst = () => Promise<ProcessIdentity | undefined>;

export interface Counters {
  readonly spoofed: number;
  readonly deniedBetweenAgents: number;
  readonly deniedEgress: number;
  readonly deniedHost: number;
}

export interface Network {
  /** nftables: links and rules are real. proxy-only: no right to make them, agents get no network but the proxy. */
  readonly mode: 'nftables' | 'proxy-only';
  /** Why not nftables, for people; empty when it is. */
  readonly reason: string;
  /** Whether packets of agents can leave the machine. Without it allowInternet and allowCidrs open nothing. */
  readonly hasUplink: boolean;
  /**
   * Idempotent: namespace, veth, address, routes. `findFirst` is asked when there is no namespace yet: the process that will be the agent's, and waits
   * for it in a namespace of its own with nothing in it; that one becomes the agent's. undefined, or absent: a new one is made.
   */
  ensureLink(agent: number, signal: AbortSignal, findFirst?: FindFirst): Promise<Link>;
  /** Idempotent; resolves when neither the link nor the namespace is there any more. */
  removeLink(agent: number, signal: AbortSignal): Promise<void>;
  /** The numbers of all links that exist, known or not: what has no Agent is removed by whoever asks. */
  listLinks(signal: AbortSignal): Promise<number[]>;
  /**
   * Makes the kernel's rules those of `policy`, in one transaction, and resolves when they were read back and match. Calls that come while one is
   * under way share the next one. Rejects with reason RulesRejected when nft refuses; the old rules stay.
   */
  apply(policy: Policy, signal: AbortSignal): Promise<void>;
  counters(signal: AbortSignal): Promise<Counters>;
  /** Rules were found changed by somebody else and have been put right. */
  onDrift(listener: (what: string) => void): () => void;
  /** Stops watching. Links and rules stay: daemon exit leaves the deny rules in place. */
  close(): Promise<void>;
  /** Takes everything away, the router namespace too. */
  destroy(signal: AbortSignal): Promise<void>;
}
