/** What the handlers share: who this guest is, where it works, what it has running. */
import type { ProcessGroups } from './process-group.ts';

export interface Guest {
  readonly id: string;
  readonly incarnation: string;
  /** Real path of the workspace root. */
  readonly root: string;
  /** The part of a command's environment that does not come from the caller. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly groups: ProcessGroups;
  /** Ends what is running, then this process. Only the first call counts. */
  stop(reason: string): void;
}
