/** The way out by name: one HTTP proxy per agent, each on a unix socket of its own. Whoever can connect to it is that agent. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ListeningSocket, listenAt } from '#lib/listen-at.ts';
import type { Logger } from '#lib/log.ts';
import { AgentProxy, type EgressLimits } from './agent-proxy.ts';
import { type Connect, connectByAddress } from './dial.ts';
import { Lookups, type Resolve, resolveByHost } from './lookups.ts';
import { compileRules, type EgressRules } from './names.ts';
import { Seldom } from './seldom.ts';

export interface EgressOptions {
  readonly log: Logger;
  /** At most once per name and minute, and for at most 100 names a minute and agent; all are counted. */
  readonly onRefused: (agentId: string, name: string) => void;
  /** Answers what an agent asks of the proxy itself, at /agentiso/…; whatever its rules are. */
  readonly ownPaths?: (agentId: string, request: IncomingMessage, response: ServerResponse) => void;
  readonly resolve?: Resolve;
  readonly connect?: Connect;
  readonly limits?: Partial<EgressLimits & { readonly resolveMs: number; readonly connectMs: number }>;
  readonly nowMs?: () => number;
}

export interface Egress {
  /** Idempotent: a socket that is in place stays, with the new rules. `uid` owns the socket; without it, we do. */
  listen(agentId: string, socketPath: string, rules: EgressRules, options?: { readonly uid?: number }): Promise<void>;
  /** Cuts what is open to names that are no longer allowed. Nothing happens for an agent that has no proxy. */
  update(agentId: string, rules: EgressRules): void;
  /** Cuts everything and removes the socket. */
  close(agentId: string): Promise<void>;
  closeAll(): Promise<void>;
  /** Undefined for an agent that has no proxy. */
  counters(agentId: string): { readonly refused: number; readonly connections: number } | undefined;
}

interface Listening {
  readonly proxy: AgentProxy;
  readonly socketPath: string;
  readonly socket: ListeningSocket;
}

const LIMITS = {
  maxConnections: 64,
  maxHeaderBytes: 16 * 1024,
  headMs: 10_000,
  idleMs: 10 * 60_000,
  resolveMs: 10_000,
  connectMs: 10_000,
};

export function createEgress(options: EgressOptions): Egress {
  const { log, onRefused, ownPaths, resolve = resolveByHost, connect = connectByAddress, nowMs = Date.now } = options;
  const limits = { ...LIMITS, ...options.limits };
  const dialOptions = { lookups: new Lookups(resolve, limits.resolveMs), connect, connectMs: limits.connectMs };
  const listening = new Map<string, Listening>();
  /** One change of an agent's proxy at a time. */
  const turns = new Map<string, Promise<void>>();

  function inTurn(agentId: string, work: () => Promise<void>): Promise<void> {
    const done = (turns.get(agentId) ?? Promise.resolve()).then(work);
    const settled = done
      .catch(() => {
        // Told to whoever asked for it.
      })
      .finally(() => turns.get(agentId) === settled && turns.delete(agentId));
    turns.set(agentId, settled);
    return done;
  }

  async function stop(agentId: string): Promise<void> {
    const known = listening.get(agentId);
    if (!known) return;
    listening.delete(agentId);
    const closing = known.socket.close();
    known.proxy.cutAll();
    await closing;
  }

  async function start(agentId: string, socketPath: string, rules: EgressRules, uid: number | undefined): Promise<void> {
    const known = listening.get(agentId);
    const compiled = compileRules(rules);
    if (known?.socketPath === socketPath && known.socket.isInPlace()) {
      known.proxy.update(compiled);
      return;
    }
    await stop(agentId);
    const seldom = new Seldom(nowMs);
    const proxy = new AgentProxy({
      agentId,
      rules: compiled,
      limits,
      dialOptions,
      log,
      onRefused: (name) => {
        if (seldom.mayBeSaid(name)) onRefused(agentId, name);
      },
      ...(ownPaths && { ownPaths: (request, response) => ownPaths(agentId, request, response) }),
    });
    listening.set(agentId, { proxy, socketPath, socket: await listenAt(proxy.server, socketPath, uid) });
  }

  return {
    listen: (agentId, socketPath, rules, { uid } = {}) => inTurn(agentId, () => start(agentId, socketPath, rules, uid)),
    update: (agentId, rules) => listening.get(agentId)?.proxy.update(compileRules(rules)),
    close: (agentId) => inTurn(agentId, () => stop(agentId)),
    closeAll: async () => {
      await Promise.all([...new Set([...turns.keys(), ...listening.keys()])].map((agentId) => inTurn(agentId, () => stop(agentId))));
    },
    counters: (agentId) => {
      const proxy = listening.get(agentId)?.proxy;
      return proxy && { refused: proxy.refused, connections: proxy.connections };
    },
  };
}
