/** Documents that know where they stand, so that every complaint can name a line. */
import type { ManifestDocument, Position } from '#api/manifest.ts';
import { isObject, type JsonObject, type JsonPath } from '#lib/json.ts';

export interface SourceDocument {
  /** The file, or `-`. */
  readonly source: string;
  readonly object: JsonObject;
  /** `file:line:column` of a field, or of its nearest parent that is there. */
  at(path: JsonPath): string;
}

/** The items of a List are documents of their own. */
export function opened(
  { value, locate }: ManifestDocument,
  file: string,
  place = ({ line, column }: Position) => `${file}:${line}:${column}`,
): SourceDocument[] {
  const at = (path: JsonPath) => place(locate(path));
  const items = typeof value['kind'] === 'string' && value['kind'].endsWith('List') ? value['items'] : undefined;
  if (!Array.isArray(items)) return [{ source: file, object: value, at }];
  return items.map((item, index) => ({
    source: file,
    object: isObject(item) ? item : {},
    at: (path) => at(['items', index, ...path]),
  }));
}
