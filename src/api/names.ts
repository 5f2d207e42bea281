/** The one rule for names: RFC 1123 labels, so that a name is also a file name, a host name and a part of a branch name. */
import type { FieldProblem } from '#lib/errors.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const MAX_LENGTH = 63;

export function isName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= MAX_LENGTH && LABEL.test(name);
}

export function checkName(path: string, name: unknown, problems: FieldProblem[]): void {
  if (isName(name)) return;
  const segments = path.split('.');
  if (name === undefined || name === null || name === '') {
    problems.push({ path, segments, kind: 'Required', message: 'Required value: a name of lower-case letters, digits and -' });
    return;
  }
  const message = `Invalid value: ${JSON.stringify(name)}: a lowercase RFC 1123 label is at most 63 characters: lower-case letters, digits and '-', and starts and ends with a letter or digit (for example 'my-name')`;
  problems.push({ path, segments, kind: 'Invalid', message });
}
