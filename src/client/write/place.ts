/** Where a set of documents goes: whom to ask, what is served there, and who hears of warnings. */
import type { Discovery } from '../discovery.ts';
import type { Writer } from './requests.ts';

export interface Place extends Writer {
  /** For documents that name none. */
  readonly namespace: string;
  readonly signal: AbortSignal;
  /** Our own, which has our kinds and no others. */
  readonly isDaemon: boolean;
  readonly discovery: () => Promise<Discovery>;
}
