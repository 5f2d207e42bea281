/** `agentiso doctor`: what this machine can do, and what would have to be done for the rest. */
import type { Command } from '../command.ts';
import { cgroupCheck } from '../doctor/cgroup.ts';
import { type Check, runChecks } from '../doctor/check.ts';
import { credentialCheck } from '../doctor/credentials.ts';
import { homeChecks } from '../doctor/home.ts';
import { isolationCheck } from '../doctor/isolation.ts';
import { kvmCheck } from '../doctor/kvm.ts';
import { bubblewrapCheck, nftCheck, userNamespaceCheck } from '../doctor/namespaces.ts';
import { nodeCheck } from '../doctor/node.ts';
import { detectPackageManager } from '../doctor/packages.ts';
import { PROGRAM_CHECKS } from '../doctor/programs.ts';
import { exitCodeOf, reportJson, reportLines, summary } from '../doctor/report.ts';
import { vsockCheck } from '../doctor/vsock.ts';

/** Longer than any program is given, so that it is the one to be named. */
const CHECK_MS = 15_000;

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'say what this machine can do, and what to install for the rest',
  description:
    'Tries what agentiso needs and what isolation drivers can use, without changing anything. Ends with 1 only if something is missing that nothing works without.',
  options: [
    { flags: '--home <dir>', description: 'the directory to look at (default: $AGENTISO_HOME or .agentiso)' },
    { flags: '-o, --output <format>', description: 'json: one document for programs', choices: ['json'] },
  ],
  async run(_args, options, { out, environment, home: configured, inspectIsolation, findVsock, inspectCredentials }) {
    const home = (options['home'] as string | undefined) ?? (configured || '.agentiso');
    const vsock = findVsock ? [vsockCheck(findVsock)] : [];
    const isolation = inspectIsolation ? [isolationCheck(inspectIsolation)] : [];
    const credentials = inspectCredentials ? [credentialCheck(() => inspectCredentials(options['home'] as string | undefined))] : [];
    const results = await runChecks([...checksFor(home, environment?.cwd ?? '.'), ...vsock, ...isolation, ...credentials], CHECK_MS);
    const manager = detectPackageManager();
    if (options['output'] === 'json') out(`${reportJson(results, manager)}\n`);
    else {
      const lines = reportLines(results, { manager, hasColour: environment?.hasColour === true });
      out([...lines, '', summary(results), ''].join('\n'));
    }
    return exitCodeOf(results);
  },
};

function checksFor(home: string, cwd: string): readonly Check[] {
  const [home0, ...aboutHome] = homeChecks(home, cwd);
  const [git, ...programs] = PROGRAM_CHECKS;
  const needed = [nodeCheck, git, home0].filter((check) => check !== undefined);
  return [...needed, ...aboutHome, userNamespaceCheck, bubblewrapCheck, nftCheck, cgroupCheck, kvmCheck, ...programs];
}
