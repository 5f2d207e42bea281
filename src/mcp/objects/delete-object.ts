/** Asks for the deletion of one object and waits, by a watch, until it is gone. */
import type { ApiObject } from '#client/resource-api.ts';
import { deleteObject as requestDeletion } from '#client/write/requests.ts';
import type { Target } from '#client/write/target.ts';
import type { ToolCall } from '../tool.ts';
import { summaryOf } from './plain-object.ts';
import { getObject } from './target.ts';
import { waitObject } from './wait-object.ts';

export interface Deletion {
  /** Absent: it is not waited for. */
  readonly timeoutMs?: number;
}

export interface Deleted {
  readonly isGone: boolean;
  readonly isTimedOut: boolean;
  /** As it was seen last. */
  readonly last: ApiObject;
}

/** Throws NotFound with the name that was probably meant. */
export async function deleteObject(call: ToolCall, target: Target, { timeoutMs }: Deletion): Promise<Deleted> {
  const before = await getObject(call, target);
  const { uid = '' } = before.metadata;
  const writer = { connection: call.connection, err: () => {} };
  const answer = await requestDeletion(writer, target, { propagationPolicy: 'Background', uid });
  if (answer.kind === 'Status') return { isGone: true, isTimedOut: false, last: before };
  if (timeoutMs === undefined) return { isGone: false, isTimedOut: false, last: answer };
  let last = answer;
  const { isTimedOut } = await waitObject(call, {
    target,
    timeoutMs,
    isDone: (object) => {
      const isSame = object?.metadata.uid === uid;
      if (object && isSame) last = object;
      return !isSame;
    },
    say: (object) => `${object.kind} ${target.name} is going: ${summaryOf(object).conditions?.join('; ') ?? 'its parts go first'}`,
  });
  return { isGone: !isTimedOut, isTimedOut, last };
}
