import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { processDriver } from '#drivers/process/driver.ts';
import { workspacePaths } from '#drivers/process/paths.ts';
import { silentLogger } from '#lib/log.ts';
import { bundleGuest, type GuestBundle } from '../support/guest-bundle.ts';
import { type DriverUnderTest, driverConformance } from './driver.ts';

let bundle: GuestBundle;

beforeAll(async () => {
  bundle = await bundleGuest();
});

afterAll(() => bundle?.remove());

/** `below` makes the state directory deep. */
async function newProcessDriver(below = ''): Promise<DriverUnderTest> {
  const base = await mkdtemp(join(tmpdir(), 'agentiso-driver-'));
  const stateDir = join(base, below);
  const reopen = () => processDriver({ stateDir, guestAgentPath: bundle.path, log: silentLogger });
  const pathsOf = (id: string) => workspacePaths(id, { stateDir, tempDir: tmpdir() });
  return {
    driver: reopen(),
    reopen,
    traces: async (id) => [pathsOf(id).directory, pathsOf(id).socketDirectory].filter((path) => existsSync(path)),
    recordStalePid: async (id, pid) => {
      const path = pathsOf(id).record;
      const record = JSON.parse(await readFile(path, 'utf8')) as { process: object };
      await writeFile(path, JSON.stringify({ ...record, process: { ...record.process, pid } }));
    },
    dispose: () => rm(base, { recursive: true, force: true }),
  };
}

describe('the process driver', () => {
  driverConformance(() => newProcessDriver());
});

describe('the process driver in a directory too deep for a socket', () => {
  driverConformance(() => newProcessDriver('deep'.repeat(25)));
});
