/** Where in the tool directory a backend is. Pure; the same on the host and inside a workspace. */
import { join, resolve } from 'node:path';
import type { Backend } from './backend.ts';

/** Where sandboxes see the tool directory. */
export const TOOLS_INSIDE = '/opt/agentiso/tools';

/** Of the agent and, after a plus, of what adapts it: two installations with one name hold the same. */
export function releaseOf({ packages }: Pick<Backend, 'packages'>): string {
  return packages.map(({ version }) => version).join('+');
}

export function folderOf(tools: string, backend: Pick<Backend, 'name' | 'packages'>): string {
  return join(tools, `${backend.name}@${releaseOf(backend)}`);
}

export function programOf(tools: string, backend: Pick<Backend, 'name' | 'packages'>, binary: string): string {
  return join(folderOf(tools, backend), 'node_modules', '.bin', binary);
}

/** The directory that AGENTISO_TOOLS names, or one among the caches of whoever runs the daemon. */
export function toolDirectory(variable: (name: string) => string | undefined, userHome: string): string {
  const caches = variable('XDG_CACHE_HOME') || join(userHome, '.cache');
  return resolve(variable('AGENTISO_TOOLS') || join(caches, 'agentiso', 'tools'));
}
