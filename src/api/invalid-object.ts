/** What is wrong with an object, as one refusal that names every field. */
import { type FieldProblem, type InvalidDetails, InvalidError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import type { KindObject } from './meta.ts';

export function invalidObject(
  object: KindObject,
  kind: string,
  problems: readonly FieldProblem[],
  details: InvalidDetails = {},
): InvalidError {
  const list = problems.map(formatProblem);
  const name = isObject(object.metadata) ? object.metadata.name : '';
  const text = list.length === 1 ? list[0] : `[${list.join(', ')}]`;
  return new InvalidError(`${kind} ${JSON.stringify(name)} is invalid: ${text}`, problems, details);
}

/** `spec.count: Invalid value: …`; the message of an unknown field names its path already, the object as a whole has none. */
export function formatProblem({ path, kind, message }: FieldProblem): string {
  return kind === 'Unknown' || path === '' ? message : `${path}: ${message}`;
}
