/** What is in the mail for the task daemon: an assignment, or something that only calls itself one. Pure. */
import type { TaskResult } from '#protocol/control.ts';
import { type Envelope, type TaskAssignment, taskAssignment } from '#protocol/relay.ts';
import { fieldOf, toFields } from '#protocol/shape.ts';
import type { Assigned } from '../state/attempts.ts';

const QUOTED_BYTES = 200;
const UNKNOWN = 'unknown';
/** The uid becomes part of file names. */
export const SAFE_UID = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/;
const MAX_NAME_CHARS = 253;

export type ReadAssignment =
  | { readonly isValid: true; readonly assigned: Assigned }
  | { readonly isValid: false; readonly result: TaskResult };

export function readAssignment(message: Envelope): ReadAssignment {
  try {
    const assignment = parseContent(message.content);
    return { isValid: true, assigned: { seq: message.seq, messageId: message.message_id, assignment } };
  } catch (error) {
    return { isValid: false, result: toRefusal(message, error instanceof Error ? error.message : String(error)) };
  }
}

function parseContent(content: string): TaskAssignment {
  const assignment = taskAssignment(JSON.parse(content), 'assignment');
  if (!SAFE_UID.test(assignment.taskUid)) throw new Error('taskUid must be 1 to 100 letters, digits, dots, dashes and underscores');
  if (assignment.taskName.length > MAX_NAME_CHARS) throw new Error(`taskName must be at most ${MAX_NAME_CHARS} characters`);
  return assignment;
}

function toRefusal({ content, message_id, seq }: Envelope, problem: string): TaskResult {
  const { taskUid, taskName, attempt, fencingToken } = whatIsReadable(content);
  const quote = Buffer.from(content).subarray(0, QUOTED_BYTES).toString();
  return {
    taskUid: taskUid ?? UNKNOWN,
    taskName: taskName ?? UNKNOWN,
    // Nobody's attempt: the number keeps two of them apart.
    attempt: taskUid === undefined ? seq : (attempt ?? 0),
    fencingToken: fencingToken ?? 0,
    isLost: false,
    exitCode: -2,
    stdout: '',
    stderr: `malformed task assignment: ${problem}: ${quote}`,
    stdoutTruncated: false,
    stderrTruncated: false,
    timedOut: false,
    elapsedMs: 0,
    sourceMessageId: message_id,
  };
}

interface Readable {
  readonly taskUid?: string | undefined;
  readonly taskName?: string | undefined;
  readonly attempt?: number | undefined;
  readonly fencingToken?: number | undefined;
}

function whatIsReadable(content: string): Readable {
  const fields = fieldsOf(content);
  const textOf = (name: string) => {
    const value = fieldOf(fields, name);
    return typeof value === 'string' ? value : undefined;
  };
  const countOf = (name: string) => {
    const value = fieldOf(fields, name);
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  };
  const uid = textOf('taskUid');
  return {
    taskUid: uid !== undefined && SAFE_UID.test(uid) ? uid : undefined,
    taskName: textOf('taskName')?.slice(0, MAX_NAME_CHARS),
    attempt: countOf('attempt'),
    fencingToken: countOf('fencingToken'),
  };
}

function fieldsOf(content: string): Readonly<Record<string, unknown>> {
  try {
    return toFields(JSON.parse(content), 'assignment');
  } catch {
    return {};
  }
}
