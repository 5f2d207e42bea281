/** logs: the agent's log, from the file and, when it is followed, as it grows. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ControlHandler } from '#protocol/control.ts';
import type { Guest } from '../guest.ts';
import { readLog } from '../log/read-log.ts';

export function logsHandler({ log }: Guest): ControlHandler<'logs'> {
  return async (params, { signal, down }) => {
    await pipeline(Readable.from(readLog(log, params, signal), { highWaterMark: 1 }), down.lines, { signal, end: false });
    return {};
  };
}
