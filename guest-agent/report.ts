/**
 * What the guest says on its own standard output and error: for whoever started it, who may be gone. Written at once, because Node's
 * streams would have to be loaded for two lines.
 */
import { writeSync } from 'node:fs';

export function say(line: string): void {
  write(1, line);
}

export function report(line: string): void {
  write(2, line);
}

function write(descriptor: number, line: string): void {
  try {
    writeSync(descriptor, `${line}\n`);
  } catch {
    // Nobody reads it, and there is no other place to complain.
  }
}
