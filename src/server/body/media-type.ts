/** What a Content-Type header says a body is. */
import { RequestError } from './request-error.ts';

export type BodyFormat = 'json' | 'yaml' | 'protobuf';

const FORMATS: ReadonlyMap<string, BodyFormat> = new Map([
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ['application/vnd.kubernetes.protobuf', 'protobuf'],
]);

export type PatchType = 'json-patch' | 'merge-patch' | 'apply-patch';

const PATCHES: ReadonlyMap<string, PatchType> = new Map([
  ['application/json-patch+json', 'json-patch'],
  ['application/merge-patch+json', 'merge-patch'],
  ['application/apply-patch+yaml', 'apply-patch'],
]);

/** Several of kubectl's requests say nothing and mean JSON. */
export function bodyFormatOf(contentType: string | undefined): BodyFormat {
  if (!contentType || contentType === 'application/json') return 'json';
  const format = FORMATS.get(mediaTypeOf(contentType));
  if (!format) throw unsupported(FORMATS);
  return format;
}

/** Strategic merge patches are for kinds compiled into a server: custom resources do not know them either. */
export function patchTypeOf(contentType: string | undefined): PatchType {
  const type = PATCHES.get(mediaTypeOf(contentType ?? ''));
  if (!type) throw unsupported(PATCHES);
  return type;
}

export function unsupportedBody(): RequestError {
  return unsupported(FORMATS);
}

function mediaTypeOf(contentType: string): string {
  const end = contentType.indexOf(';');
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

function unsupported(accepted: ReadonlyMap<string, unknown>): RequestError {
  const list = [...accepted.keys()].join(', ');
  return new RequestError(415, `the body of the request was in an unknown format - accepted media types include: ${list}`);
}
