/** The guest agent as it is shipped, for tests that run the real thing. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export interface GuestBundle {
  /** What a driver starts. */
  readonly path: string;
  /** Program and compiled code, beside it. */
  readonly packPath: string;
  remove(): Promise<void>;
}

export async function bundleGuest(): Promise<GuestBundle> {
  const directory = await mkdtemp(join(tmpdir(), 'agentiso-bundle-'));
  const bundler = fileURLToPath(new URL('../../scripts/bundle-guest.mjs', import.meta.url));
  await promisify(execFile)(process.execPath, [bundler, directory]);
  const [path, packPath] = [join(directory, 'guest-agent.cjs'), join(directory, 'guest-agent.pack')];
  return { path, packPath, remove: () => rm(directory, { recursive: true, force: true }) };
}
