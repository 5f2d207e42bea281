/** Which live processes have a text in their command line or environment: what a test left running. */
import { readdirSync, readFileSync } from 'node:fs';

export function processesMentioning(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => ['cmdline', 'environ'].some((file) => read(`/proc/${pid}/${file}`).includes(text)));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It ended while we looked, or belongs to somebody else.
    return '';
  }
}
