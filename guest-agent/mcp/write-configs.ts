/** Puts the settings of MCP clients into a home that is the agent's own. What is there already is the agent's, and stays. */
import { linkSync, lstatSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '#lib/make-folder.ts';
import type { ClientConfig } from './client-configs.ts';

export interface WrittenConfig {
  readonly client: string;
  readonly path: string;
  readonly isNew: boolean;
}

/** At once: a few small files take less time than the threads that would write them beside. */
export function writeConfigs(home: string, configs: readonly ClientConfig[]): readonly WrittenConfig[] {
  return configs.map(({ client, path, text }) => {
    const whole = join(home, path);
    return { client, path: whole, isNew: writeNew(whole, text) };
  });
}

/** Whether this was done before. The last file is the proof; what the agent has removed of the others since is not to come back. */
export function hasConfigs(home: string, configs: readonly ClientConfig[]): boolean {
  const last = configs.at(-1);
  return last === undefined || isThere(join(home, last.path));
}

/** Whole or not there: a client would stumble over half a file for ever. False: there was one. */
function writeNew(path: string, text: string): boolean {
  if (isThere(path)) return false;
  makeFolder(dirname(path));
  const aside = `${path}.${process.pid}.new`;
  try {
    writeFileSync(aside, text, { mode: 0o600 });
    linkSync(aside, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
