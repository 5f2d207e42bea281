/** The contract of what controllers tell agents and people: messages from `system`, durable like any other. */
import type { MessageType } from '#protocol/relay.ts';

export interface Notice {
  readonly namespace: string;
  readonly team: string;
  /** Short name of an agent, `lead`, `orchestrator`, or `*` for every agent. */
  readonly to: string;
  /** With `*`: an agent that is left out, by short name. */
  readonly except?: string;
  readonly type: MessageType;
  readonly content: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly requestId?: string;
  readonly replyTo?: string;
  /** A second notice with the same key is the first one again: a controller that crashed may say it once more. */
  readonly key: string;
}

export interface Notices {
  /**
   * On disk when it resolves. A recipient that does not exist, or whose inbox is full, is no error: nobody can act on it. Rejects with
   * Unavailable when the disk does not take it.
   */
  tell(notice: Notice): Promise<void>;
  /** Takes back what nobody has acknowledged yet: it would be news of yesterday. A notice that is not there is no error. */
  withdraw(notice: Pick<Notice, 'namespace' | 'team' | 'to' | 'key'>): Promise<void>;
}
