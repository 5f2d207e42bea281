/** What the store says when it does not do what was asked. */
import { formatKey, type KindObject, type ObjectKey } from '#api/meta.ts';
import { AgentisoError, AlreadyExistsError, InvalidError, NotFoundError } from '#lib/errors.ts';

const MAX_OBJECT_BYTES = 1024 * 1024;

/** Not NotFound: whoever ignores that for objects would never hear of a kind that does not exist. */
export function unknownKind(kind: string, known: readonly string[]): InvalidError {
  const message = `unknown kind ${JSON.stringify(kind)}; known: ${known.join(', ')}`;
  return new InvalidError(message, [{ path: 'kind', segments: ['kind'], kind: 'NotSupported', message }], { reason: 'UnknownKind' });
}

/** What is stored must also fit in a file that a person can edit, and in one message to a client. */
export function checkSize(key: ObjectKey, json: string): void {
  if (json.length * 3 <= MAX_OBJECT_BYTES) return;
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_OBJECT_BYTES) return;
  throw new AgentisoError('TooLarge', `${formatKey(key)} would be ${bytes} bytes; at most ${MAX_OBJECT_BYTES} (1 MiB) are stored`);
}

export function alreadyExists(key: ObjectKey, { metadata }: KindObject): AlreadyExistsError {
  const isLeaving = metadata.deletionTimestamp !== undefined;
  return new AlreadyExistsError(`${formatKey(key)} already exists`, isLeaving ? { reason: 'BeingDeleted' } : {});
}

export function notFound(key: ObjectKey): NotFoundError {
  return new NotFoundError(`${formatKey(key)} not found`);
}

export function nameRequired(): InvalidError {
  const message = 'Required value: name or generateName is required';
  const problem = { path: 'metadata.name', segments: ['metadata', 'name'], kind: 'Required', message } as const;
  return new InvalidError(`metadata.name: ${message}`, [problem], { isPartial: true });
}

export function required(path: string, message: string): InvalidError {
  return new InvalidError(`${path}: ${message}`, [{ path, segments: path.split('.'), kind: 'Invalid', message }]);
}
