/** `agentiso exec`: a command inside an agent, with its input, output and exit code. */
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT } from '../command.ts';
import type { Ending } from '../streams/command-channels.ts';
import { execIn } from '../streams/exec.ts';
import { meantBy } from '../streams/pod.ts';
import { rawTerminal, type StandardStreams, standardStreams } from '../streams/standard.ts';
import { UsageError } from '../usage-error.ts';

export const execCommand = apiCommand({
  name: 'exec',
  args: '<agent> [command...]',
  summary: 'run a command inside an agent',
  description:
    'Runs a command in the workspace of an agent: agentiso exec NAME -- COMMAND. NAME is the name of an agent, agent/NAME or pod/NAME. The exit code is that of the command.',
  options: [
    { flags: '-i, --stdin', description: 'pass standard input on to the command' },
    { flags: '-t, --tty', description: 'give the command a terminal' },
    { flags: '-c, --container <name>', description: 'container of the pod; agents have one, named agent' },
    { flags: '-q, --quiet', description: 'print nothing but what the command prints' },
  ],
  async run([word = '', ...argv], options, session) {
    if (argv.length === 0) throw new UsageError('you must specify at least one command for the container');
    const { name } = meantBy(word);
    const standard = standardStreams();
    const isTerminal = options['tty'] === true && hasTerminal(standard, options['stdin'] === true);
    if (options['tty'] === true && !isTerminal) session.err('Unable to use a TTY - input is not a terminal or the right kind of file\n');
    const restore = isTerminal && options['stdin'] === true ? rawTerminal(standard) : () => {};
    try {
      const ending = await execIn(session, {
        pod: { namespace: session.namespace, name },
        container: text(options['container']),
        argv,
        isTerminal,
        ends: endsOf(standard, { isTerminal, hasStdin: options['stdin'] === true }),
      });
      restore();
      return exitCodeOf(ending, session, options['quiet'] === true);
    } finally {
      restore();
    }
  },
});

function hasTerminal({ stdin, stdout }: StandardStreams, hasStdin: boolean): boolean {
  return (hasStdin ? stdin.isTTY : stdout.isTTY) === true;
}

export function endsOf({ stdin, stdout, stderr }: StandardStreams, { isTerminal, hasStdin }: { isTerminal: boolean; hasStdin: boolean }) {
  const sizes = (tell: (columns: number, rows: number) => void) => {
    const now = () => tell(stdout.columns ?? 80, stdout.rows ?? 24);
    now();
    stdout.on('resize', now);
    return () => void stdout.off('resize', now);
  };
  return { stdout, stderr, ...(hasStdin ? { stdin } : {}), ...(isTerminal ? { sizes } : {}) };
}

export function exitCodeOf(ending: Ending, { err, signal }: Session, isQuiet: boolean): number {
  if (signal.aborted) return EXIT.interrupted;
  if ('problem' in ending) {
    err(`error: ${ending.problem}\n`);
    return EXIT.failure;
  }
  if (ending.exitCode !== 0 && !isQuiet && !ending.isOurs) err(`command terminated with exit code ${ending.exitCode}\n`);
  return ending.exitCode;
}
