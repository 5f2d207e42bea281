/** All machines are copies of one template. */
import { vi } from 'vitest';
import { deleteFully, run, SIGNAL, SPEC } from '../support/driver-steps.ts';
import { machinesHere } from '../support/machines.ts';
import { requires } from '../support/requirements.ts';
import { machineConformance } from './machine-driver.ts';

const here = await machinesHere();
const TEMPLATE_MS = 300_000;

requires(here.support !== undefined, `virtual machines: ${here.reason}`)('the vm driver', () => {
  machineConformance('vm', async (driver) => {
    await driver.create(SPEC, SIGNAL);
    await vi.waitFor(() => run(driver, 'true'), { timeout: TEMPLATE_MS });
    await driver.templatesSettled();
    await deleteFully(driver, SPEC.id);
  });
});
