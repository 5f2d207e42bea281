/** The vm driver against what every driver must do: real machines with the real guest agent, however they are reached. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { Driver } from '#drivers/driver.ts';
import { workspacePaths } from '#drivers/local/paths.ts';
import type { VmDriver } from '#drivers/vm/driver.ts';
import { guestAgentPath } from '../../src/guest-agent-path.ts';
import { openDriver } from '../support/open-driver.ts';
import { processesMentioning } from '../support/processes.ts';
import { driverConformance } from './driver.ts';
import { type DriverUnderTest, groupsOf } from './driver-subject.ts';

const PREPARE_MS = 300_000;

/** `kind`: as open-driver.ts knows it. `prepare` is called once, before the first test, with a driver that is closed afterwards. */
export function machineConformance(kind: string, prepare: (driver: VmDriver) => Promise<void> = async () => {}): void {
  let stateDir: string;
  let open: Driver[] = [];

  const openOne = async () => (await openDriver(kind, { stateDir, guestAgentPath: guestAgentPath() })) as VmDriver;

  beforeAll(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'agentiso-vms-'));
    const driver = await openOne();
    await prepare(driver);
    await driver.close();
  }, PREPARE_MS);

  afterAll(async () => {
    if (stateDir !== undefined) await rm(stateDir, { recursive: true, force: true });
  });

  const pathsOf = (id: string) => workspacePaths(id, { stateDir });
  const letGo = async () => {
    for (const driver of open) await (driver as VmDriver).close();
    open = [];
  };
  const newDriver = async (): Promise<DriverUnderTest> => {
    await letGo();
    const driver = await openOne();
    open.push(driver);
    return {
      ...{ driver, kind, stateDir, guestAgentPath: guestAgentPath(), letGo },
      opened: (other) => void open.push(other),
      traces: async (...ids) => [...ids.map((id) => pathsOf(id).directory), ...groupsOf(stateDir, ids)].filter((path) => existsSync(path)),
      processes: (...ids) => processesMentioning(...ids.map((id) => `${stateDir}/${id}`)),
      recordStalePid: async (id, pid) => {
        const record = JSON.parse(await readFile(pathsOf(id).record, 'utf8')) as { process: object };
        await writeFile(pathsOf(id).record, JSON.stringify({ ...record, process: { ...record.process, pid } }));
      },
      removeFolder: (id) => rm(pathsOf(id).directory, { recursive: true }),
      dispose: letGo,
    };
  };
  driverConformance(newDriver, { isMachine: true });
}
