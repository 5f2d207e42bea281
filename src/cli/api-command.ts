/** Commands that talk to a server: they share how it is chosen, which namespace counts, and how its refusals are told. */
import type { Connection } from '#client/connection.ts';
import type { Discovery } from '#client/discovery.ts';
import { knownDiscovery, loadDiscovery } from '#client/discovery-load.ts';
import { interruptible } from '#client/interruptible.ts';
import { StatusError } from '#client/status-error.ts';
import { openTarget, type TargetEnvironment } from '#client/target.ts';
import { AgentisoError, isCode } from '#lib/errors.ts';
import { type Command, type CommandContext, EXIT, type Option, type OptionValues } from './command.ts';
import { UsageError } from './usage-error.ts';

export interface Session extends CommandContext {
  readonly connection: Connection;
  /** -n, else the context's, else `default`. */
  readonly namespace: string;
  /** Our own, which has our kinds and no others. */
  readonly isDaemon: boolean;
  /** Asked once, when first needed. */
  readonly discovery: () => Promise<Discovery>;
}

export interface ApiCommand extends Omit<Command, 'run'> {
  run(args: readonly string[], options: OptionValues, session: Session): Promise<number>;
}

export const NAMESPACE_OPTION: Option = { flags: '-n, --namespace <name>', description: 'the namespace to work in' };

export const TARGET_OPTIONS: readonly Option[] = [
  { flags: '--home <dir>', description: 'talk to the daemon of this directory (default: $AGENTISO_HOME or the nearest .agentiso)' },
  { flags: '--context <name>', description: 'talk to the cluster of this kubeconfig context instead' },
  { flags: '--kubeconfig <file>', description: 'talk to the current context of this kubeconfig instead' },
];

export function apiCommand({ run, options = [], ...data }: ApiCommand): Command {
  return {
    ...data,
    options: [...options, NAMESPACE_OPTION, ...TARGET_OPTIONS],
    run: (args, values, context) => withSession(values, context, (session) => run(args, values, session)),
  };
}

/** Opens what the options name, and says in kubectl's words what a server refuses. */
export async function withSession(
  options: OptionValues,
  context: CommandContext,
  work: (session: Session) => Promise<number>,
): Promise<number> {
  try {
    const {
      connection: opened,
      namespace,
      isDaemon,
    } = await openTarget({
      home: text(options['home']),
      context: text(options['context']),
      kubeconfig: text(options['kubeconfig']),
      environment: environmentOf(context),
    });
    const connection = interruptible(opened, context.signal);
    try {
      const session = {
        ...context,
        connection,
        isDaemon,
        namespace: text(options['namespace']) ?? namespace,
        discovery: discoverOnce(connection, isDaemon),
      };
      return await work(session);
    } finally {
      connection.close();
    }
  } catch (error) {
    // Ctrl-C in the middle of a request is no failure of the server.
    if (context.signal.aborted) return EXIT.interrupted;
    const said = errorText(error);
    if (said === undefined) throw error;
    context.err(said);
    return EXIT.failure;
  }
}

export function environmentOf({ environment, home }: CommandContext): TargetEnvironment {
  return { cwd: environment?.cwd ?? '.', userHome: environment?.userHome ?? '.', kubeconfig: environment?.kubeconfig, home };
}

/** Lines for standard error; undefined for what is a bug, a mistake on the command line, or nobody answering. */
export function errorText(error: unknown): string | undefined {
  if (error instanceof StatusError) return `${error.text}\n`;
  if (!(error instanceof AgentisoError) || error instanceof UsageError || isCode(error, 'Unavailable')) return undefined;
  return `error: ${error.message}\n${error.hint ? `  ${error.hint}\n` : ''}`;
}

function discoverOnce(connection: Connection, isDaemon: boolean): () => Promise<Discovery> {
  let asked: Promise<Discovery> | undefined;
  return () => {
    asked ??= isDaemon ? Promise.resolve(knownDiscovery()) : loadDiscovery(connection);
    return asked;
  };
}

/** The value of an option that takes one. */
export function text(value: OptionValues[string]): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
