/** Whether anybody of a process group is alive. One that has ended counts for the kernel until somebody reaps it, and in many containers nobody does. */
import { readdirSync, readFileSync } from 'node:fs';

export function isGroupAlive(id: number): boolean {
  return readdirSync('/proc').some((name) => {
    if (!/^[1-9]/.test(name)) return false;
    const [state, , group] = readAfterName(`/proc/${name}/stat`).split(' ');
    return group === String(id) && state !== 'Z' && state !== 'X';
  });
}

/** The fields behind the command's name, which may contain anything; empty when the process is gone. */
function readAfterName(path: string): string {
  try {
    const text = readFileSync(path, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2);
  } catch {
    return '';
  }
}
