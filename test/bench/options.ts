/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util';

const MIN_ROUNDS = 20;

export const USAGE = `usage: npm run bench -- NAME [--rounds N] [--quick] [--write]
  NAME          which benchmark: store, api, agents, messages, tasks, scale, merge, mcp, vm
  --rounds N    rounds per operation (${MIN_ROUNDS}; a quarter where each starts processes), more if undecided; fewer only with --quick
  --quick       small sizes and few rounds: shows that everything runs, proves nothing
  --write       write docs/benchmarks.md from a full run
  --only ID     one operation (repeatable)
  --seed N      repeat the random order of an earlier run
  --subject F   store: measure the module F instead (it exports openSubject); api: the program F instead of agentiso
`;

export interface Options {
  readonly name: string;
  readonly rounds: number | undefined;
  readonly quick: boolean;
  readonly write: boolean;
  readonly only: readonly string[];
  readonly seed: number;
  readonly subject: string | undefined;
}

export class UsageError extends Error {}

export function parseOptions(argv: readonly string[], newSeed: () => number): Options {
  const { values, positionals } = parseStrictly(argv);
  const [name, ...rest] = positionals;
  if (name === undefined || rest.length > 0) throw new UsageError('name one benchmark');
  const quick = values.quick ?? false;
  const only = values.only ?? [];
  const rounds = parseCount('--rounds', values.rounds);
  if (rounds !== undefined && rounds < MIN_ROUNDS && !quick)
    throw new UsageError(`--rounds must be at least ${MIN_ROUNDS} without --quick`);
  const write = values.write ?? false;
  if (write && (quick || only.length > 0 || values.subject !== undefined)) {
    throw new UsageError('--write needs a full run of the product: without --quick, --only and --subject');
  }
  return { name, rounds, quick, write, only, seed: parseCount('--seed', values.seed) ?? newSeed(), subject: values.subject };
}

function parseStrictly(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        rounds: { type: 'string' },
        quick: { type: 'boolean' },
        write: { type: 'boolean' },
        only: { type: 'string', multiple: true },
        seed: { type: 'string' },
        subject: { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function parseCount(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new UsageError(`${flag} must be a positive whole number, not '${text}'`);
  return Number(text);
}
