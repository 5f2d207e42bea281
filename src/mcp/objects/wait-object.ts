/** One object until something is true of it or the time is over: a watch, with a word of progress whenever it says something new. */
import type { ApiObject } from '#client/resource-api.ts';
import { deadlineIn } from '#client/write/deadline.ts';
import { followObject } from '#client/write/follow-object.ts';
import type { Target } from '#client/write/target.ts';
import type { ToolCall } from '../tool.ts';

export interface WaitObject {
  readonly target: Target;
  readonly timeoutMs: number;
  /** Undefined: it is not there. */
  readonly isDone: (object: ApiObject | undefined) => boolean;
  /** One line about how far it is. */
  readonly say: (object: ApiObject) => string;
}

export interface Waited {
  /** As it was seen last; undefined when it was never there. */
  readonly last: ApiObject | undefined;
  readonly isGone: boolean;
  readonly isTimedOut: boolean;
}

export async function waitObject(
  { connection, signal, progress }: Pick<ToolCall, 'connection' | 'signal' | 'progress'>,
  { target, timeoutMs, isDone, say }: WaitObject,
): Promise<Waited> {
  const deadline = deadlineIn(timeoutMs);
  let last: ApiObject | undefined;
  let isGone = false;
  let said = '';
  const look = (object: ApiObject | undefined) => {
    isGone = object === undefined;
    last = object ?? last;
    const words = object === undefined ? '' : say(object);
    if (words !== '' && words !== said) progress(words);
    said = words;
    return isDone(object);
  };
  try {
    await followObject({ connection, target, signal: AbortSignal.any([signal, deadline.signal]), isDone: look });
    return { last, isGone, isTimedOut: false };
  } catch (error) {
    if (signal.aborted || !deadline.signal.aborted) throw error;
    return { last, isGone, isTimedOut: true };
  } finally {
    deadline.clear();
  }
}
