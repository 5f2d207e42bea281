/** The guest agent as it is shipped, one CommonJS file, for tests that run the real thing. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export interface GuestBundle {
  readonly path: string;
  remove(): Promise<void>;
}

export async function bundleGuest(): Promise<GuestBundle> {
  const directory = await mkdtemp(join(tmpdir(), 'agentiso-bundle-'));
  const path = join(directory, 'guest-agent.cjs');
  const entry = fileURLToPath(new URL('../../guest-agent/main.ts', import.meta.url));
  await build({ entryPoints: [entry], outfile: path, bundle: true, platform: 'node', target: 'node20', format: 'cjs', logLevel: 'error' });
  return { path, remove: () => rm(directory, { recursive: true, force: true }) };
}
