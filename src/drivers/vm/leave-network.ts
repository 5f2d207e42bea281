/**
 * What joins a machine to the link of its agent goes with the machine: its launcher takes it away. One that was killed could not, and whoever lives in that
 * network namespace next, a sandbox perhaps, would have no network: all that comes in would go to a device that nobody serves.
 */
import { existsSync } from 'node:fs';
import { execute } from '#lib/execute.ts';
import { leaveScript, TAP } from '#lib/machine-tap.ts';
import { TOOL_PATH } from '../sandbox/args.ts';

/** Idempotent. A namespace that is gone has taken everything along. */
export async function leaveNetwork(namespace: string): Promise<void> {
  if (!existsSync(namespace)) return;
  await execute('nsenter', [`--net=${namespace}`, '--', '/bin/sh', '-c', leaveScript(TAP)], { env: { PATH: TOOL_PATH } });
}
