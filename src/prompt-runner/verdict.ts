/** What a run came to, from what is known at its end. Pure. */
import { RunFailure } from './failure.ts';
import { retryTime } from './rate-limit.ts';

export interface RunEnd {
  readonly failure: RunFailure | undefined;
  readonly toolCalls: number;
  readonly filesChanged: number;
  /** What the agent said last. */
  readonly words: string;
}

export interface Verdict {
  readonly error?: { readonly code: string; readonly message: string };
  readonly retryAt?: string;
}

const MAX_MESSAGE = 2_000;

/** Done is what has left a trace. An agent that only says so may also be saying, in its own words, that its provider wants no more. */
export function verdictOn({ failure, toolCalls, filesChanged, words }: RunEnd, now: Date): Verdict {
  const hasTrace = toolCalls > 0 || filesChanged > 0;
  const problem = failure ?? (hasTrace ? undefined : new RunFailure('NoEvidence', NO_TRACE));
  if (problem === undefined) return {};
  const reason = problem.code === 'NoEvidence' ? words : problem.message;
  const retryAt = problem.code === 'Cancelled' ? undefined : retryTime(reason, now);
  if (retryAt === undefined) return { error: { code: problem.code, message: problem.message.slice(0, MAX_MESSAGE) } };
  return { error: { code: 'RateLimited', message: reason.slice(0, MAX_MESSAGE) }, retryAt: retryAt.toISOString() };
}

const NO_TRACE = 'it says that it is done, but called no tool and changed no file';
