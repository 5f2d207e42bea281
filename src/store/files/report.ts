/** What happened to a file that a person should hear of. */
import type { ObjectKey } from '#api/meta.ts';

export interface FileReport {
  readonly type: 'accepted' | 'rejected' | 'refused' | 'restored';
  readonly key: ObjectKey;
  /** PascalCase, for the Event and the condition. */
  readonly reason: string;
  /** With file and line, and what would be accepted. */
  readonly message: string;
}

export type OnFileReport = (report: FileReport) => void;
