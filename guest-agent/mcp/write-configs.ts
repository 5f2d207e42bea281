/** Puts the settings of MCP clients into a home that is the agent's own. What is there already is the agent's, and stays. */
import { dirname, join } from 'node:path';
import { lazy } from '../lazy-modules.ts';
import type { ClientConfig } from './client-configs.ts';

export interface WrittenConfig {
  readonly client: string;
  readonly path: string;
  readonly isNew: boolean;
}

export function writeConfigs(home: string, configs: readonly ClientConfig[]): Promise<readonly WrittenConfig[]> {
  return Promise.all(
    configs.map(async ({ client, path, text }) => {
      const whole = join(home, path);
      return { client, path: whole, isNew: await writeNew(whole, text) };
    }),
  );
}

/** Whole or not there: a client would stumble over half a file for ever. False: there was one. */
async function writeNew(path: string, text: string): Promise<boolean> {
  const { link, lstat, mkdir, unlink, writeFile } = lazy.files;
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  );
  if (isThere) return false;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const aside = `${path}.${process.pid}.new`;
  try {
    await writeFile(aside, text, { mode: 0o600 });
    await link(aside, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await unlink(aside).catch(() => {});
  }
}
