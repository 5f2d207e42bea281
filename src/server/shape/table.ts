/** Objects as a Table: what kubectl prints when no other output is asked for. */
import { isObject } from '#lib/json.ts';
import { RequestError } from '../body/request-error.ts';
import type { ColumnDefinition, TableFormat } from './columns.ts';
import { apiVersionOf, type ListMeta, type MetaVersion, partialOf, type WithMetadata } from './partial.ts';

export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface TableRow {
  readonly cells: readonly unknown[];
  readonly object: unknown;
}

export interface Table {
  readonly kind: 'Table';
  readonly apiVersion: string;
  readonly metadata: ListMeta;
  readonly columnDefinitions: readonly ColumnDefinition[] | null;
  readonly rows: readonly TableRow[];
}

export interface TableOptions {
  /** Of the list; for one object, or an event of a watch, `listMetaOf(object)`. */
  readonly listMeta: ListMeta;
  readonly includeObject: IncludeObject;
  readonly now: Date;
  readonly version: MetaVersion;
  /** False from the second event of a watch on. */
  readonly withHeaders: boolean;
}

/** Tells a client that it has all there was when its watch began: it must reach the client in any case. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

export function tableOf(format: TableFormat, objects: readonly WithMetadata[], options: TableOptions): Table {
  const { listMeta, now, version, withHeaders } = options;
  const objectOf = OBJECTS[options.includeObject];
  const rows: TableRow[] = [];
  for (const object of objects) rows.push({ cells: format.cellsOf(object, now), object: objectOf(object, version) });
  return {
    kind: 'Table',
    apiVersion: apiVersionOf(version),
    metadata: listMeta,
    columnDefinitions: withHeaders ? format.headers : null,
    rows,
  };
}

const OBJECTS: Readonly<Record<IncludeObject, (object: WithMetadata, version: MetaVersion) => unknown>> = {
  Object: (object) => object,
  Metadata: partialOf,
  None: (object, version) => (endsInitialEvents(object) ? partialOf(object, version) : null),
};

function endsInitialEvents({ metadata }: WithMetadata): boolean {
  const annotations = isObject(metadata) ? metadata['annotations'] : undefined;
  return isObject(annotations) && annotations[INITIAL_EVENTS_END] === 'true';
}

export function listMetaOf({ metadata }: WithMetadata): ListMeta {
  const resourceVersion = isObject(metadata) ? metadata['resourceVersion'] : undefined;
  return typeof resourceVersion === 'string' ? { resourceVersion } : {};
}

/** Of the query parameter of that name. */
export function includeObjectOf(value: string | null | undefined): IncludeObject {
  if (!value) return 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  const problem = `includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`;
  throw new RequestError(400, `Unable to convert to Table as requested: ${problem}`);
}
