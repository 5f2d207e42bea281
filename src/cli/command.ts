/** A command as data. It gets what it needs and resolves to the exit code; it never exits and never prints by itself. */
import type { Client } from '#client/client.ts';

/** A daemon in this process, as much of it as a command may see. */
export interface RunningDaemon {
  readonly client: Client;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly home: string;
  readonly logLevel: 'silent' | 'error' | 'warn' | 'info' | 'debug';
}

export interface CommandContext {
  /** The answer: what a pipe should get. */
  readonly out: (text: string) => void;
  /** Progress and complaints. */
  readonly err: (text: string) => void;
  /** Aborts on Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  readonly version: string;
  readonly home: string | undefined;
  readonly startDaemon: (options: StartOptions) => Promise<RunningDaemon>;
}

export interface Option {
  /** As in help: `-f, --filename <file>`. */
  readonly flags: string;
  readonly description: string;
  readonly isRequired?: boolean;
  readonly isRepeatable?: boolean;
  readonly choices?: readonly string[];
  readonly default?: string;
}

export type OptionValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export interface Command {
  readonly name: string;
  /** `<file...>` and the like; empty when it takes none. */
  readonly args?: string;
  readonly summary: string;
  readonly description?: string;
  readonly options?: readonly Option[];
  run(args: readonly string[], options: OptionValues, context: CommandContext): Promise<number>;
}

export const EXIT = { ok: 0, failure: 1, usage: 2, interrupted: 130 } as const;
