/** Progress of one call as MCP wants it: told only to whoever asked, each number greater than the one before, nothing after the answer. */

import type { Extra } from './server.ts';

export interface ProgressParams {
  readonly progressToken: string | number;
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

export interface Progress {
  tell(message: string, done?: { readonly of: number; readonly count: number }): void;
  /** There is an answer. */
  end(): void;
}

/** Between two that count the same. */
const LITTLE = 1 / 1_024;

export function createProgress(token: string | number | undefined, send: (params: ProgressParams) => void): Progress {
  let last = 0;
  let isOver = token === undefined;
  return {
    tell(message, done) {
      if (isOver || token === undefined) return;
      last = done ? Math.max(done.count, last + LITTLE) : last + 1;
      send({ progressToken: token, progress: last, ...(done && { total: Math.max(done.of, last) }), message });
    },
    end() {
      isOver = true;
    },
  };
}

/** For whoever sent this request. */
export function progressOf({ _meta, sendNotification }: Extra): Progress {
  return createProgress(_meta?.progressToken, (params) => {
    // A client that is gone has other signs of it.
    void sendNotification({ method: 'notifications/progress', params: { ...params } }).catch(() => {});
  });
}
