/** delete: asks for the end of an object and waits for it. */
import { described, flag, list, object, text } from '#protocol/shape.ts';
import { keptWork } from '../objects/answers.ts';
import { deleteObject } from '../objects/delete-object.ts';
import { kindField, namespaceField, objectName, waitDeadlineMs, waitSeconds } from '../objects/fields.ts';
import { findKind } from '../objects/find-kind.ts';
import { keptOf } from '../objects/kept-work.ts';
import { toTarget } from '../objects/target.ts';
import { defineTool } from '../tool.ts';

const USUAL_SECONDS = 60;

const input = object(
  { kind: kindField, name: described(objectName, 'The full name.') },
  {
    namespace: namespaceField,
    wait: described(flag, 'Wait until it is gone; true when absent.'),
    timeout_seconds: waitSeconds(USUAL_SECONDS),
  },
);

const output = object(
  {
    kind: text,
    name: text,
    deleted: described(flag, 'It is gone. False: it is going, and its parts go first.'),
    kept: described(list(keptWork), 'Work of agents that was not merged and stays in the repository of the team.'),
  },
  { namespace: text, timed_out: flag },
);

export const deleteTool = defineTool({
  name: 'delete',
  title: 'Delete an object',
  description:
    'Deletes an object with everything it owns: of a team its agents with their workspaces and its tasks, of an agent its workspace. What is not merged is rescued first, and named in kept; files outside of a repository are gone. An agent that its team still asks for is made anew: lower the count of its role with apply instead. With wait: false, or after timed_out, why says what it waits for.',
  input,
  output,
  category: 'default',
  isReadOnly: false,
  isDestructive: true,
  isIdempotent: true,
  deadlineMs: ({ timeout_seconds = USUAL_SECONDS }) => waitDeadlineMs(timeout_seconds),
  resource: ({ kind, name }) => `${kind.toLowerCase()}/${name}`,
  async run({ kind, wait = true, timeout_seconds = USUAL_SECONDS, ...named }, call) {
    const target = toTarget(findKind(kind, 'delete'), named);
    const { isGone, isTimedOut, last } = await deleteObject(call, target, wait ? { timeoutMs: timeout_seconds * 1_000 } : {});
    const kept = await keptOf(call, last);
    const { namespace, name } = target;
    return {
      kind: last.kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      deleted: isGone,
      kept,
      ...(isTimedOut ? { timed_out: true } : {}),
    };
  },
});
