/** wait_for: one object until it is in a state. */

import { hasCondition } from '#client/has-condition.ts';
import type { ApiObject } from '#client/resource-api.ts';
import { InvalidError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import { described, flag, object, type Parsed, text } from '#protocol/shape.ts';
import { objectSummary } from '../objects/answers.ts';
import { kindField, namespaceField, objectName, plainText, waitDeadlineMs, waitSeconds } from '../objects/fields.ts';
import { findKind } from '../objects/find-kind.ts';
import { summaryOf } from '../objects/plain-object.ts';
import { getObject, toTarget } from '../objects/target.ts';
import { waitObject } from '../objects/wait-object.ts';
import { defineTool } from '../tool.ts';

const USUAL_SECONDS = 60;

const input = object(
  { kind: kindField, name: described(objectName, 'The full name.') },
  {
    namespace: namespaceField,
    condition: described(plainText(200), 'A condition that should be True, such as Ready; or NAME=False.'),
    phase: described(plainText(200), 'A phase it should be in, such as Succeeded.'),
    deleted: described(flag, 'Wait until it is gone.'),
    timeout_seconds: waitSeconds(USUAL_SECONDS),
  },
);
type Asked = Parsed<typeof input>;

const output = object(
  { met: flag, timed_out: flag },
  { object: objectSummary, reason: described(text, 'Why it will not be met, when that is certain.') },
);

export const waitFor = defineTool({
  name: 'wait_for',
  title: 'Wait for a state',
  description:
    'Waits until one object has a condition (condition: Ready), is in a phase (phase: Succeeded) or is gone (deleted: true); give exactly one of them. Answers at once when it is so already, and earlier when it cannot become so any more. With timed_out it goes on by itself: call again, or ask why.',
  input,
  output,
  category: 'default',
  isReadOnly: true,
  quotesOthers: true,
  deadlineMs: ({ timeout_seconds = USUAL_SECONDS }) => waitDeadlineMs(timeout_seconds),
  resource: ({ kind, name }) => `${kind.toLowerCase()}/${name}`,
  async run(asked, call) {
    const wish = wishOf(asked);
    const target = toTarget(findKind(asked.kind, 'watch'), asked);
    // What was never there is a mistake of whoever waits, unless its end is waited for.
    const first = asked.deleted === true ? undefined : await getObject(call, target);
    const uid = first?.metadata.uid;
    const timeoutMs = (asked.timeout_seconds ?? USUAL_SECONDS) * 1_000;
    const isDone = (each: ApiObject | undefined) => wish.isMet(each) || hopeless(each, { asked, uid }) !== undefined;
    const { last, isGone, isTimedOut } = await waitObject(call, { target, timeoutMs, isDone, say });
    const now = isGone ? undefined : last;
    const isMet = !isTimedOut && wish.isMet(now);
    const reason = isMet || isTimedOut ? undefined : hopeless(now, { asked, uid });
    return {
      met: isMet,
      timed_out: isTimedOut,
      ...(now ? { object: summaryOf(now) } : {}),
      ...(reason === undefined ? {} : { reason }),
    };
  },
});

interface Wish {
  isMet(object: ApiObject | undefined): boolean;
}

function wishOf({ condition, phase, deleted }: Asked): Wish {
  const given = [condition !== undefined, phase !== undefined, deleted === true].filter(Boolean).length;
  if (given !== 1) {
    throw new InvalidError('give exactly one of condition, phase and deleted', [], { hint: 'for example condition: Ready' });
  }
  if (condition !== undefined) {
    const [type = '', wanted = 'True'] = condition.toLowerCase().split('=');
    return { isMet: (object) => object !== undefined && hasCondition(object, type, wanted.toLowerCase()) };
  }
  if (phase !== undefined) return { isMet: (object) => object !== undefined && phaseOf(object)?.toLowerCase() === phase.toLowerCase() };
  return { isMet: (object) => object === undefined };
}

function phaseOf({ status }: ApiObject): string | undefined {
  return isObject(status) && typeof status['phase'] === 'string' ? status['phase'] : undefined;
}

const ENDS: Readonly<Record<string, readonly string[]>> = {
  Task: ['Succeeded', 'Failed'],
  Merge: ['Merged', 'Conflicted', 'Failed'],
};

/** Undefined while it may still come true. */
function hopeless(object: ApiObject | undefined, { asked, uid }: { asked: Asked; uid: string | undefined }): string | undefined {
  if (asked.deleted === true) return undefined;
  if (object === undefined) return 'it was deleted';
  if (object.metadata.uid !== uid) return 'it was deleted, and another one of this name was made';
  const phase = phaseOf(object);
  return phase !== undefined && ENDS[object.kind]?.includes(phase) ? `it has ended: ${phase}` : undefined;
}

function say(object: ApiObject): string {
  const { kind, name, phase, conditions = [] } = summaryOf(object);
  return `${kind} ${name} is ${phase ?? 'new'}${conditions.length === 0 ? '' : `; ${conditions[0]}`}`;
}
