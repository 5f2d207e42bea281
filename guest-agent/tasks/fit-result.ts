/** Makes a result small enough for an answer of pollResults, whatever its output consists of. Pure. */
import { Buffer } from 'node:buffer';
import type { TaskResult } from '#protocol/control.ts';
import { MAX_FRAME_BYTES } from '#protocol/framing.ts';
import { fitIntoAnswer, type Outputs, TRUNCATION_MARK } from '../output.ts';

/** Room for the list of what is running, and for the answer around it. */
export const MAX_RESULTS_BYTES = MAX_FRAME_BYTES - 64 * 1024;

/** `end` as it came out of the command, without marks. */
export function fitResult(result: TaskResult, end: Outputs): TaskResult {
  const { stdout, stderr } = fitIntoAnswer(end);
  const fitted: TaskResult = {
    ...result,
    stdout: stdout.text,
    stderr: stderr.text,
    stdoutTruncated: stdout.isTruncated,
    stderrTruncated: stderr.isTruncated,
  };
  const excessBytes = Buffer.byteLength(JSON.stringify(fitted)) - MAX_RESULTS_BYTES;
  if (excessBytes <= 0) return fitted;
  return stdout.text.length > stderr.text.length
    ? { ...fitted, stdout: shorten(stdout.text, excessBytes), stdoutTruncated: true }
    : { ...fitted, stderr: shorten(stderr.text, excessBytes), stderrTruncated: true };
}

/** A character is at least one byte. */
function shorten(text: string, bytes: number): string {
  const body = text.endsWith(TRUNCATION_MARK) ? text.slice(0, -TRUNCATION_MARK.length) : text;
  const cut = body.slice(0, Math.max(0, body.length - bytes - TRUNCATION_MARK.length));
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}${TRUNCATION_MARK}`;
}
