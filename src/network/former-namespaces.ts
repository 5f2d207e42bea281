/** Namespaces that a home has left under the name of a place where it is no more. */
import { readdirSync, readlinkSync } from 'node:fs';
import { agentOfNamespace, homeHash, routerNamespace } from './addresses.ts';
import { listNamespaces, namespaceId, removeNamespace } from './namespaces.ts';
import type { Tools } from './tools.ts';

/** Those with a process inside stay, and the router that such a one is linked to: an agent that was taken over may still be at work. */
export async function removeFormerNamespaces(tools: Tools, formerHome: string): Promise<void> {
  const home = homeHash(formerHome);
  const names = listNamespaces();
  const ofAgents = names.filter((name) => agentOfNamespace(home, name) !== undefined);
  const router = names.filter((name) => name === routerNamespace(home));
  if (ofAgents.length + router.length === 0) return;
  const inUse = namespacesInUse();
  const idle = ofAgents.filter((name) => !inUse.has(namespaceId(name) ?? 0));
  const last = idle.length === ofAgents.length ? router.filter((name) => !inUse.has(namespaceId(name) ?? 0)) : [];
  for (const name of [...idle, ...last]) await removeNamespace(tools, name);
}

function namespacesInUse(): Set<number> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return new Set(pids.flatMap((pid) => inodeOf(`/proc/${pid}/ns/net`) ?? []));
}

/** Of a process that has ended meanwhile there is none. */
function inodeOf(link: string): number | undefined {
  try {
    return Number(/\[(\d+)\]/.exec(readlinkSync(link))?.[1]);
  } catch {
    return undefined;
  }
}
