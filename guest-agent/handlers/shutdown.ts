/** shutdown: acknowledged first, then everything ends. */
import type { ControlHandler } from '#protocol/control.ts';
import type { Guest } from '../guest.ts';

/** Time for the acknowledgement to leave this process. */
const ACK_MS = 100;

export function shutdownHandler(guest: Guest): ControlHandler<'shutdown'> {
  return async ({ graceMs }) => {
    setTimeout(() => guest.stop('shutdown asked by the host', graceMs), ACK_MS);
    return {};
  };
}
