/** A server's Table: what it would show of a list, as columns and rows. */
import type { ApiMetadata } from './resource-api.ts';

export const TABLE_ACCEPT = [
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
  'application/json',
].join(',');

export interface TableColumn {
  readonly name: string;
  readonly type?: string;
  readonly format?: string;
  /** Above 0: only with -o wide. */
  readonly priority?: number;
}

export interface TableRow {
  readonly cells: readonly unknown[];
  readonly object?: { readonly metadata?: ApiMetadata };
}

export interface Table {
  readonly kind: 'Table';
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly columnDefinitions?: readonly TableColumn[] | null;
  readonly rows?: readonly TableRow[] | null;
}
