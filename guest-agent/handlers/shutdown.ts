/** shutdown: acknowledged first, then everything ends. */
import type { Handler } from '#protocol/messages.ts';
import type { Guest } from '../guest.ts';

/** Time for the acknowledgement to leave this process. */
const ACK_MS = 100;

export function shutdownHandler(guest: Guest): Handler<'shutdown'> {
  return async () => {
    setTimeout(() => guest.stop('shutdown asked by the host'), ACK_MS);
    return {};
  };
}
