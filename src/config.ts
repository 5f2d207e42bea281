/** What can be set about a daemon, and its defaults. Pure; read once, passed down. */
export interface DaemonConfig {
  /** Holds resources/ (the readable store) and state/ (journal, workspaces). */
  readonly home: string;
  readonly logLevel: 'silent' | 'error' | 'warn' | 'info' | 'debug';
}
