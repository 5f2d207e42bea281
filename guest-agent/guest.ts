/** What the handlers share: who this guest is, where it works, what it has running. */
import type { AgentLog } from './log/agent-log.ts';
import type { ProcessGroups } from './process-group.ts';
import type { Reserve } from './state/reserve.ts';

export interface Guest {
  readonly id: string;
  readonly incarnation: string;
  /** Real path of the workspace root. */
  readonly root: string;
  /** Its durable memory; exists. */
  readonly stateDir: string;
  /** Where its programs reach it: the path of a unix socket. */
  readonly agentSocket: string;
  /** What stands for a prompt where a command would stand for a command, and the command `team`. */
  readonly programs?: { readonly promptRunner: string; readonly team: string };
  /** Where MCP clients look for their settings, and the command `team` that they are to start. Absent where the home is a person's. */
  readonly mcpClients?: { readonly home: string; readonly command: string };
  /** The part of a command's environment that does not come from the caller: the guest's own names, then those of `setEnv`. */
  env(): Readonly<Record<string, string>>;
  readonly groups: ProcessGroups;
  readonly log: AgentLog;
  /**
   * Of a virtual machine, which may be turned off at any moment: what has been written in the workspace is on its disk when it resolves. Absent
   * where files are in the hands of a kernel that outlives the workspace.
   */
  readonly syncFiles?: () => Promise<void>;
  /** Of a virtual machine, whose disk is all its programs'. */
  readonly reserve?: Pick<Reserve, 'keep' | 'spend'>;
  /** Ends what is running, then this process. Only the first call counts. */
  stop(reason: string, graceMs?: number): void;
}
