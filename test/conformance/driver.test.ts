import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { workspacePaths } from '#drivers/local/paths.ts';
import { detectSandbox } from '#drivers/sandbox/detect.ts';
import { STAND_IN_PATH } from '../support/guest-stand-in.ts';
import { openDriver } from '../support/open-driver.ts';
import { processesMentioning } from '../support/processes.ts';
import { requires } from '../support/requirements.ts';
import { driverConformance } from './driver.ts';
import { type DriverUnderTest, groupsOf } from './driver-subject.ts';

/** `below` makes the state directory deep. */
async function newDriver(kind: string, below = ''): Promise<DriverUnderTest> {
  const base = await mkdtemp(join(tmpdir(), 'agentiso-driver-'));
  const stateDir = join(base, below);
  const pathsOf = (id: string) => workspacePaths(id, { stateDir, ...(kind === 'process' && { tempDir: tmpdir() }) });
  return {
    driver: await openDriver(kind, { stateDir, guestAgentPath: STAND_IN_PATH, stopGraceMs: 2_000 }),
    kind,
    stateDir,
    traces: async (...ids) => {
      const folders = ids.flatMap((id) => [pathsOf(id).directory, pathsOf(id).run]);
      return [...folders, ...groupsOf(stateDir, ids)].filter((path) => existsSync(path));
    },
    processes: (...ids) => processesMentioning(...ids.flatMap((id) => [`${stateDir}/${id}`, markOf(join(stateDir, id))])),
    recordStalePid: async (id, pid) => {
      const path = pathsOf(id).record;
      const record = JSON.parse(await readFile(path, 'utf8')) as { process: object };
      await writeFile(path, JSON.stringify({ ...record, process: { ...record.process, pid } }));
    },
    removeFolder: (id) => rm(pathsOf(id).directory, { recursive: true }),
    dispose: () => rm(base, { recursive: true, force: true }),
  };
}

/** As the sandbox driver marks them. */
function markOf(directory: string): string {
  return `agentiso-${createHash('sha256').update(directory).digest('hex').slice(0, 32)}`;
}

const support = await detectSandbox();

describe('the process driver', () => {
  driverConformance(() => newDriver('process'));
});

describe('the process driver in a directory too deep for a socket', () => {
  driverConformance(() => newDriver('process', 'deep'.repeat(25)));
});

requires(support.mode !== 'unavailable', `sandboxes: ${support.reason}`)(`the sandbox driver, ${support.mode}`, () => {
  driverConformance(() => newDriver('sandbox'));
});
