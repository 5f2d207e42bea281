/** The system names no path when what is read turns out to be a folder. */
import { statSync } from 'node:fs';
import { AgentisoError } from '#lib/errors.ts';

export function mustBeFile(path: string): void {
  if (!statSync(path).isFile())
    throw new AgentisoError('IoError', `${path} is not a file`, {
      reason: 'StateDamaged',
      hint: 'move away what is there, and start again',
    });
}
