/** The vm driver against what every driver must do: real machines with the real guest agent, all of them copies of one template. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, vi } from 'vitest';
import type { Driver } from '#drivers/driver.ts';
import { workspacePaths } from '#drivers/local/paths.ts';
import type { VmDriver } from '#drivers/vm/driver.ts';
import { deleteFully, run, SIGNAL, SPEC } from '../support/driver-steps.ts';
import { bundleGuest, type GuestBundle } from '../support/guest-bundle.ts';
import { machinesHere } from '../support/machines.ts';
import { openMachines } from '../support/open-driver.ts';
import { processesMentioning } from '../support/processes.ts';
import { requires } from '../support/requirements.ts';
import { driverConformance } from './driver.ts';
import { type DriverUnderTest, groupsOf } from './driver-subject.ts';

const here = await machinesHere();
const TEMPLATE_MS = 300_000;

requires(here.support !== undefined, `virtual machines: ${here.reason}`)('the vm driver', () => {
  let bundle: GuestBundle;
  let stateDir: string;
  let open: Driver[] = [];

  beforeAll(async () => {
    bundle = await bundleGuest();
    stateDir = await mkdtemp(join(tmpdir(), 'agentiso-vms-'));
    const driver = await openMachines({ stateDir, guestAgentPath: bundle.path });
    await driver.create(SPEC, SIGNAL);
    await vi.waitFor(() => run(driver, 'true'), { timeout: TEMPLATE_MS });
    await driver.templatesSettled();
    await deleteFully(driver, SPEC.id);
    await driver.close();
  }, TEMPLATE_MS);

  afterAll(async () => {
    await bundle?.remove();
    if (stateDir !== undefined) await rm(stateDir, { recursive: true, force: true });
  });

  const pathsOf = (id: string) => workspacePaths(id, { stateDir });
  const letGo = async () => {
    for (const driver of open) await (driver as VmDriver).close();
    open = [];
  };
  const newDriver = async (): Promise<DriverUnderTest> => {
    await letGo();
    const driver = await openMachines({ stateDir, guestAgentPath: bundle.path });
    open.push(driver);
    return {
      ...{ driver, kind: 'vm', stateDir, guestAgentPath: bundle.path, letGo },
      opened: (other) => void open.push(other),
      traces: async (id) => [pathsOf(id).directory, ...groupsOf(stateDir, id)].filter((path) => existsSync(path)),
      processes: (id) => processesMentioning(`${stateDir}/${id}`),
      recordStalePid: async (id, pid) => {
        const record = JSON.parse(await readFile(pathsOf(id).record, 'utf8')) as { process: object };
        await writeFile(pathsOf(id).record, JSON.stringify({ ...record, process: { ...record.process, pid } }));
      },
      removeFolder: (id) => rm(pathsOf(id).directory, { recursive: true }),
      dispose: letGo,
    };
  };
  driverConformance(newDriver, { isMachine: true });
});
