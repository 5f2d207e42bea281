/** What can be set about a daemon, and its defaults. Pure; read once, passed down. */
import type { Limits } from '#api/limits.ts';
import type { LogOptions } from '#lib/log.ts';
import type { Rates } from '#relay/rates.ts';

export interface ConfiguredLimits extends Partial<Limits> {
  readonly rates?: Partial<Rates>;
}

export interface DaemonConfig {
  /** Holds resources/ (the readable store) and state/ (journal, workspaces, certificates). */
  readonly home: string;
  readonly logLevel: LogOptions['level'];
  readonly logFormat?: LogOptions['format'];
  /** Where HTTPS is served; loopback and a port of its own choice when absent. */
  readonly listen?: { readonly host: string; readonly port?: number };
  /** Directories of manifests that people own: followed, never written to. */
  readonly manifestDirectories?: readonly string[];
  readonly version?: string;
  /** Leave workspaces running at the end, for the next daemon to go on with. */
  readonly keepWorkspaces?: boolean;
  /** Let packets of agents leave the machine where their team allows it; routing them further is the operator's. */
  readonly uplink?: boolean;
  /** How many agents there may be, and how fast each may ask; defaults where absent. */
  readonly limits?: ConfiguredLimits;
  /** The directory of coding agents; none when absent. */
  readonly tools?: string;
  /** Variables of the environment that agents may be given by name. */
  readonly hostEnv?: (name: string) => string | undefined;
  /** Failures that nobody in this process waits for; without it they end it. */
  readonly onUnheard?: (listener: (error: unknown) => void) => void;
}
