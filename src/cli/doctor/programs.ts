/** Programs that are there when they tell their version. */
import { broken, type Check, type Finding, missing, ok } from './check.ts';
import type { PackageName } from './packages.ts';
import { runProgram } from './run-program.ts';

interface ProgramCheck extends Omit<Check, 'look'> {
  readonly program: string;
  readonly args: readonly string[];
  readonly install: PackageName;
}

const PROGRAMS: readonly ProgramCheck[] = [
  { name: 'git', program: 'git', args: ['--version'], install: 'git', isNeeded: true, purpose: 'the work of agents: branches and merges' },
  {
    name: 'qemu',
    program: 'qemu-system-x86_64',
    args: ['--version'],
    install: 'qemu',
    isNeeded: false,
    purpose: 'isolation driver vm',
  },
  {
    name: 'mmdebstrap',
    program: 'mmdebstrap',
    args: ['--version'],
    install: 'mmdebstrap',
    isNeeded: false,
    purpose: 'building images of virtual machines',
  },
  {
    name: 'kubectl',
    program: 'kubectl',
    args: ['version', '--client=true'],
    install: 'kubectl',
    isNeeded: false,
    purpose: "kubectl beside agentiso's own commands",
  },
];

export const PROGRAM_CHECKS: readonly Check[] = PROGRAMS.map(toCheck);

function toCheck({ program, args, install, ...check }: ProgramCheck): Check {
  return { ...check, look: () => versionOf(program, args, install) };
}

async function versionOf(program: string, args: readonly string[], install: PackageName): Promise<Finding> {
  const { outcome, code, stdout, complaint } = await runProgram(program, args);
  if (outcome === 'absent') return missing(`no ${program}`, { install });
  if (outcome !== 'exited' || code !== 0) return broken(`${program} ${args.join(' ')}: ${complaint}`, { install });
  return ok(/\bv?(\d+\.\d+[\w.+-]*)/.exec(stdout)?.[1] ?? 'there');
}
