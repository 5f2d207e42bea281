/** The tables of kinds that are not custom: their columns are part of Kubernetes, and say more than a path could. */
import { ageOf } from '#lib/age.ts';
import { isObject } from '#lib/json.ts';
import { podTable } from '../pods/table.ts';
import { type ColumnDefinition, NAME_HEADER, nameOf, type TableFormat } from './columns.ts';
import { eventTableFormat } from './event-table.ts';
import { textAt } from './events.ts';
import type { WithMetadata } from './partial.ts';

const CREATED =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata';

interface Column {
  readonly header: ColumnDefinition;
  readonly cell: (object: WithMetadata, now: Date) => unknown;
}

function column(name: string, description: string, cell: Column['cell'], type = 'string'): Column {
  return { header: { name, type, format: '', description, priority: 0 }, cell };
}

const createdOf = (object: WithMetadata) => textAt(object, ['metadata', 'creationTimestamp']);
const AGE = column('Age', CREATED, (object, now) => ageOf(createdOf(object), now));

function table(...columns: readonly Column[]): TableFormat {
  return {
    headers: [NAME_HEADER, ...columns.map(({ header }) => header)],
    cellsOf: (object, now) => [nameOf(object), ...columns.map(({ cell }) => cell(object, now))],
  };
}

/** By kind. */
export const coreTables: ReadonlyMap<string, TableFormat> = new Map([
  ['Event', eventTableFormat],
  ['Pod', podTable],
  [
    'Namespace',
    table(
      column('Status', 'The status of the namespace', (object) => textAt(object, ['status', 'phase'])),
      AGE,
    ),
  ],
  ['ConfigMap', table(column('Data', 'How many keys it has, of text and of bytes.', countOfData), AGE)],
  [
    'Lease',
    table(
      column('Holder', 'Who holds it.', (object) => textAt(object, ['spec', 'holderIdentity'])),
      AGE,
    ),
  ],
  ['CustomResourceDefinition', table(column('Created At', CREATED, createdOf, 'date'))],
]);

function countOfData(object: WithMetadata): number {
  const { data, binaryData } = object as { data?: unknown; binaryData?: unknown };
  return [data, binaryData].reduce<number>((sum, map) => sum + (isObject(map) ? Object.keys(map).length : 0), 0);
}
