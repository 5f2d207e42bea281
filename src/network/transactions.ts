/** Sends transactions to the kernel, the quickest way there is, and hears what came of them. */
import type { Judge, Monitor } from './monitor.ts';
import type { Nft } from './nft.ts';
import type { Session } from './session.ts';

export interface TransactionsOptions {
  readonly nft: Pick<Nft, 'apply'>;
  readonly session: Pick<Session, 'takes' | 'apply'>;
  readonly monitor: Pick<Monitor, 'generation' | 'listen'>;
  readonly hearingMs?: number;
}

/** The announcement is usually there before the answer. Reading everything takes about twice this long. */
const HEARING_MS = 10;

export class Transactions {
  readonly #options: TransactionsOptions;

  constructor(options: TransactionsOptions) {
    this.#options = options;
  }

  /** The last one heard of, whoever made it. */
  get generation(): number | undefined {
    return this.#options.monitor.generation;
  }

  /** True when the judge has seen the next transaction and said so; false also when none was heard of in time. Rejects when refused. */
  async send(text: string, judge: Judge): Promise<boolean> {
    const { nft, session, monitor, hearingMs = HEARING_MS } = this.#options;
    const heard = monitor.listen(judge);
    try {
      await (session.takes(text) ? session.apply(text) : nft.apply(text));
    } catch (error) {
      await heard.within(0);
      throw error;
    }
    return heard.within(hearingMs);
  }
}
