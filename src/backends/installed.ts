/** What is installed in a tool directory. An installation is there as a whole or not at all: it gets its name when it is complete. */
import { access, readFile } from 'node:fs/promises';
import { messageOf } from '#lib/errors.ts';
import { errnoOf } from '#lib/process-identity.ts';
import { customAgentPath, parseCustomAgent } from './acp.ts';
import type { Backend } from './backend.ts';
import { folderOf, programOf } from './tool-places.ts';

export type Installation = { readonly folder: string } | { readonly missing: string };

export async function findInstalled(tools: string, backend: Backend): Promise<Installation> {
  if (backend.name === 'shell') return { folder: '' };
  if (backend.name === 'acp') return findCustomAgent(tools);
  for (const binary of backend.binaries) {
    const program = programOf(tools, backend, binary);
    if (!(await isThere(program))) return { missing: 'not installed' };
  }
  return { folder: folderOf(tools, backend) };
}

async function findCustomAgent(tools: string): Promise<Installation> {
  const path = customAgentPath(tools);
  try {
    parseCustomAgent(await readFile(path, 'utf8'));
    return { folder: path };
  } catch (error) {
    return { missing: errnoOf(error) === 'ENOENT' ? `not configured: there is no ${path}` : messageOf(error) };
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}
