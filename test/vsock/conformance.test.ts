/** What every driver must do, with machines that are reached by vsock. Each of them boots. */
import { machineConformance } from '../conformance/machine-driver.ts';
import { machinesByVsock } from '../support/machines.ts';
import { requires } from '../support/requirements.ts';

const here = await machinesByVsock();

requires(here.support !== undefined, `virtual machines by vsock: ${here.reason}`)('the vm driver by vsock', () => {
  machineConformance('vm-vsock');
});
