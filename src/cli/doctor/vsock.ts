/** Whether virtual machines can be reached by vsock: by a program, which is tried for its version only. */
import type { VsockHere } from '../command.ts';
import { broken, type Check, type Finding, missing, ok } from './check.ts';
import { runProgram } from './run-program.ts';

export function vsockCheck(find: () => Promise<VsockHere>): Check {
  return {
    name: 'vsock',
    isNeeded: false,
    purpose: 'reaching virtual machines by vsock (AGENTISO_VM_TRANSPORT=vsock; without it they are reached by virtio ports)',
    look: async () => lookAt(await find()),
  };
}

async function lookAt(found: VsockHere): Promise<Finding> {
  if ('problem' in found) return missing(found.problem, { advice: found.hint });
  const { outcome, code, stdout, complaint } = await runProgram(found.program, ['--version']);
  if (outcome !== 'exited' || code !== 0) return broken(`${found.program} --version: ${complaint}`);
  return ok(`${stdout.trim()} (${found.program})`);
}
