/** Descriptors that the daemon itself was started with must not reach a sandbox: bubblewrap closes none. */
import { readdirSync } from 'node:fs';
import { closeOnExec } from '#lib/native.ts';

/** What Node opens closes by itself when a program is started; what was open before Node was need not. */
export function closeInheritedOnExec(): void {
  for (const name of readdirSync('/proc/self/fd')) if (Number(name) > 2) closeOnExec(Number(name));
}
