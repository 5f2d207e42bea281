/** gitExport and gitImport. One at a time: both use names of their own in the repository. */
import type { ControlHandlers } from '#protocol/control.ts';
import type { Guest } from '../guest.ts';
import { exportGit } from './export.ts';
import { importGit } from './import.ts';

let last: Promise<unknown> = Promise.resolve();

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = last.then(work, work);
  last = mine.catch(() => undefined);
  return mine;
}

export function gitHandlers(guest: Guest): Pick<ControlHandlers, 'gitExport' | 'gitImport'> {
  return {
    gitExport: (params, { signal, down }) => inTurn(() => exportGit(guest, params, down.bundle, signal)),
    gitImport: (params, { signal, up }) => inTurn(() => importGit(guest, params, up.bundle, signal)),
  };
}
