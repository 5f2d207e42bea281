/** A command as data. It gets what it needs and resolves to the exit code; it never exits and never prints by itself. */
import type { Client } from '#client/client.ts';
import type { ImagesHere } from './image/images-here.ts';

/** A daemon in this process, as much of it as a command may see. */
export interface RunningDaemon {
  readonly client: Client;
  /** Where its API is, and the file that leads kubectl there. */
  readonly url: string;
  readonly kubeconfig: string;
  /** Resolves, with what happened, when it cannot go on. */
  readonly lost?: Promise<string>;
  /** Reads its settings again. */
  reload?(): void;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly home: string;
  readonly logLevel: 'silent' | 'error' | 'warn' | 'info' | 'debug';
  readonly logFormat?: 'json' | 'text';
  readonly listen?: { readonly host: string; readonly port?: number };
  readonly manifestDirectories?: readonly string[];
  readonly keepWorkspaces?: boolean;
  readonly uplink?: boolean;
}

/** How agents would be isolated. A reason is empty where there is nothing to explain. */
export interface IsolationHere {
  readonly sandbox: { readonly mode: 'root' | 'rootless' | 'unavailable'; readonly reason: string; readonly limits: string };
  readonly network: { readonly mode: 'nftables' | 'proxy-only'; readonly reason: string };
}

/** The program by which virtual machines are reached over vsock, or what is missing and what to do. */
export type VsockHere = { readonly program: string } | { readonly problem: string; readonly hint: string };

/** The coding agents that agents of teams can be. */
export interface BackendsHere {
  /** The directory they are installed in. */
  readonly tools: string;
  list(): Promise<readonly BackendHere[]>;
  /** Where it is now, and whether it was not before. Throws with npm's last words. */
  install(name: string, progress: { readonly signal: AbortSignal; readonly onWait: () => void }): Promise<InstalledHere>;
  /** Other releases than the present ones: those that are gone, and those that a process runs from. */
  prune(progress: { readonly signal: AbortSignal; readonly onWait: () => void }): Promise<readonly PrunedHere[]>;
}

export interface BackendHere {
  readonly name: string;
  readonly title: string;
  /** Empty where there is nothing to install. */
  readonly release: string;
  readonly isInstallable: boolean;
  /** Where it is. Absent: it is missing. */
  readonly folder?: string;
  /** What is wrong, where it is missing. */
  readonly missing?: string;
  /** Of models, where it talks to one unless it is told otherwise. */
  readonly provider?: string;
}

/** For which providers of models there is a credential. Never a credential itself. */
export interface CredentialsHere {
  /** Where they are written down, or would be. */
  readonly file: string;
  /** The daemon of this home says so; else it is what one that is started now would find. */
  readonly isDaemon: boolean;
  readonly providers: readonly ProviderHere[];
  /** Why the file, or the environment, is not used. */
  readonly problem?: string;
}

export interface ProviderHere {
  readonly name: string;
  /** Absent: there is none. */
  readonly from?: 'file' | 'environment';
  /** Of the daemon's environment, that may hold one. */
  readonly variables: readonly string[];
}

export interface PrunedHere {
  readonly folder: string;
  /** The process that runs from it. Absent: it is gone. */
  readonly usedBy?: number;
}

export interface InstalledHere {
  readonly folder: string;
  readonly isNew: boolean;
}

/** What a command may know about where it was called. */
export interface Environment {
  readonly cwd: string;
  readonly userHome: string;
  /** $KUBECONFIG; looked at only where a kubeconfig is asked for. */
  readonly kubeconfig?: string | undefined;
  /** $KUBE_EDITOR, $VISUAL or $EDITOR. */
  readonly editor?: string | undefined;
  /** $KUBECTL_EXTERNAL_DIFF. */
  readonly externalDiff?: string | undefined;
  /** Standard output is a terminal. */
  readonly isTerminal?: boolean;
  /** A terminal, and neither NO_COLOR nor TERM=dumb. */
  readonly hasColour?: boolean;
  /** Width of the terminal. */
  readonly columns?: number | undefined;
  /** What was typed to call this program, where that is not `agentiso`. */
  readonly command?: string | undefined;
}

export interface CommandContext {
  /** The answer: what a pipe should get. */
  readonly out: (text: string) => void;
  /** The same for bytes, which may be used for something else afterwards. Absent in tests of other things. */
  readonly outBytes?: (bytes: Uint8Array) => void;
  /** Progress and complaints. */
  readonly err: (text: string) => void;
  /** Aborts on Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** From now on the command goes on only as long as somebody reads its answer. Absent in tests of other things. */
  readonly onlyForReader?: () => void;
  /** Calls back when somebody asks for settings to be read again (SIGHUP). Absent in tests of other things. */
  readonly onReload?: (listener: () => void) => void;
  readonly version: string;
  readonly home: string | undefined;
  /** Absent: this folder, and no terminal. */
  readonly environment?: Environment;
  readonly startDaemon: (options: StartOptions) => Promise<RunningDaemon>;
  /** What a daemon started here and now would find; tried for real. Absent in tests of other things. */
  readonly inspectIsolation?: () => Promise<IsolationHere>;
  /** Absent in tests of other things. */
  readonly findVsock?: () => Promise<VsockHere>;
  /** Absent in tests of other things. */
  readonly openBackends?: () => Promise<BackendsHere>;
  /** Of the home that is given, or that commands find. Absent in tests of other things. */
  readonly inspectCredentials?: (home: string | undefined) => Promise<CredentialsHere>;
  /** Images of virtual machines. Absent in tests of other things. */
  readonly openImages?: () => Promise<ImagesHere>;
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
  /** Not in the list of commands. */
  readonly isHidden?: boolean;
  /** Gets its arguments as they are, flags included. */
  readonly isRaw?: boolean;
  run(args: readonly string[], options: OptionValues, context: CommandContext): Promise<number>;
}

/** The reason of the error that ends a command when somebody does not want to wait for it any longer. */
export const INTERRUPTED = 'Interrupted';

export const EXIT = { ok: 0, failure: 1, usage: 2, interrupted: 130 } as const;
