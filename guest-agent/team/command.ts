/** What a command of `team` is: data and one function that gives the exit code. It prints and asks through what it is given. */
import type { Arguments, OptionKinds } from './arguments.ts';

// biome-ignore lint/suspicious/noExplicitAny: what the guest answers follows the table of verbs; commands only print it
export type Result = any;

export interface Terminal {
  /** Has left this program when it returns. */
  print(text: string): void;
  complain(text: string): void;
  /** All of standard input. */
  readInput(): Promise<string>;
}

export interface Context extends Terminal {
  /** Rejects with Refusal. */
  ask(verb: string, params?: object): Promise<Result>;
}

export interface Command {
  /** The words behind the command's own. */
  readonly usage: string;
  readonly options?: OptionKinds;
  run(args: Arguments, context: Context): Promise<number>;
}

export const OK = 0;
export const FAILED = 1;
export const MISUSED = 2;

/** Prints what was asked for with --json, or what people read. */
export function show(args: Arguments, context: Context, result: Result, text: () => string): void {
  context.print(args.flag('json') ? `${JSON.stringify(result)}\n` : text());
}

/** The text behind the first words; `-`, or none, means standard input. */
export async function textFrom(args: Arguments, context: Context, after: number): Promise<string> {
  const words = args.words.slice(after);
  const isInput = words.length === 0 || (words.length === 1 && words[0] === '-');
  const text = isInput ? (await context.readInput()).replace(/\n$/, '') : words.join(' ');
  return text === '' ? args.misused('there is no text, neither as words nor on standard input') : text;
}
