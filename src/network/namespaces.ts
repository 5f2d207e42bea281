/** Named network namespaces, where `ip netns` keeps them, and commands of `ip` inside them. */
import { readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AgentisoError } from '#lib/errors.ts';
import { joinLines, TAP } from '#lib/machine-tap.ts';
import type { ProcessIdentity } from '#lib/process-identity.ts';
import { type RunOptions, run } from './run.ts';
import type { Tools } from './tools.ts';

/** Built into ip: not ours to choose. */
export const NAMESPACE_DIRECTORY = '/run/netns';
/** What statfs says of a bound namespace; a plain file is what a broken start left behind. */
const NSFS_MAGIC = 0x6e73_6673;

export function namespacePath(name: string): string {
  return join(NAMESPACE_DIRECTORY, name);
}

export function namespaceExists(name: string): boolean {
  try {
    return statfsSync(namespacePath(name)).type === NSFS_MAGIC;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Tells it from another of the same name, as long as somebody is inside; undefined when there is none. */
export function namespaceId(name: string): number | undefined {
  return namespaceExists(name) ? statSync(namespacePath(name)).ino : undefined;
}

export function listNamespaces(): string[] {
  try {
    return readdirSync(NAMESPACE_DIRECTORY);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** The line that adds the namespace, for a batch. Not under `ip -n`: that has mounts of its own. */
export function addNamespaceLine(name: string): string {
  rmSync(namespacePath(name), { force: true });
  return `netns add ${name}`;
}

/** The same for one that is there already: that of a process. */
export function nameNamespaceLine(name: string, { pid }: ProcessIdentity): string {
  rmSync(namespacePath(name), { force: true });
  return `netns attach ${name} ${pid}`;
}

/** Its processes, if there are any, keep it; the name is gone. */
export async function removeNamespace(tools: Tools, name: string, signal?: AbortSignal): Promise<void> {
  if (!namespaceExists(name)) return;
  await runIp(tools, { lines: [`netns del ${name}`], ...(signal ? { signal } : {}) });
}

export interface IpBatch extends Pick<RunOptions, 'signal'> {
  readonly lines: readonly string[];
  /** Name of the namespace to run in; the daemon's own when absent. */
  readonly inside?: string;
}

/** Several commands of ip in one process; it stops at the first that fails. */
export async function runIp(tools: Tools, { lines, inside, signal }: IpBatch): Promise<void> {
  const { code, stderr } = await run([...entering(tools, inside), tools.ip, '-batch', '-'], {
    input: `${lines.join('\n')}\n`,
    ...(signal ? { signal } : {}),
  });
  if (code === 0) return;
  const failed = lines[Number(/Command failed -:(\d+)/.exec(stderr)?.[1] ?? 0) - 1] ?? lines[0];
  throw new AgentisoError('Unavailable', `ip ${failed}: ${stderr.trim().split('\n')[0]}`, { reason: 'LinkFailed' });
}

/** Joins the device of a machine to a link that has just been made. */
export async function joinMachine(
  tools: Tools,
  { inside, signal }: Required<Pick<IpBatch, 'inside'>> & Pick<IpBatch, 'signal'>,
): Promise<void> {
  // Of the same package.
  const command = [tools.nsenter, `--net=${namespacePath(inside)}`, '--', join(dirname(tools.ip), 'tc')] as const;
  const options = signal ? { signal } : {};
  // It may lead to the link before; where it leads nowhere there is nothing to take away.
  await run([...command, 'qdisc', 'del', 'dev', TAP, 'ingress'], options);
  const { code, stderr } = await run([...command, '-batch', '-'], { input: `${joinLines(TAP).join('\n')}\n`, ...options });
  if (code !== 0) throw new AgentisoError('Unavailable', `tc: ${stderr.trim().split('\n')[0]}`, { reason: 'LinkFailed' });
}

/** Names of the links in a namespace. */
export async function linkNames(tools: Tools, inside: string, signal?: AbortSignal): Promise<string[]> {
  const { code, stdout, stderr } = await run([...entering(tools, inside), tools.ip, '-j', 'link', 'show'], signal ? { signal } : {});
  if (code !== 0) throw new AgentisoError('Unavailable', `ip link show: ${stderr.trim()}`, { reason: 'LinkFailed' });
  return (JSON.parse(stdout) as { readonly ifname: string }[]).map(({ ifname }) => ifname);
}

/** A command of ours in front: enter only the network of a namespace, keep the mounts. */
function entering(tools: Tools, inside: string | undefined): [string, ...string[]] | [] {
  return inside === undefined ? [] : [tools.nsenter, `--net=${namespacePath(inside)}`, '--'];
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
