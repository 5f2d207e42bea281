/** What the store, the API and the commands know about a kind. */
import type { CustomResourceDefinition, PrinterColumn, Schema } from './schema.ts';
import type { Admit } from './validate.ts';

export interface Kind {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  /** Objects of other kinds have an empty namespace. */
  readonly isNamespaced: boolean;
  /** Status is a subresource: only a write that names it changes it. */
  readonly hasStatus: boolean;
  /** Has a YAML file of its own that people may edit; other kinds live in the journal only. */
  readonly hasFile: boolean;
  readonly selectableFields: readonly string[];
  readonly columns: readonly PrinterColumn[];
  /** Of the whole object, metadata included. */
  readonly schema: Schema;
  readonly admit: Admit;
  readonly crd?: CustomResourceDefinition;
  /** A PUT of what is not there creates it. */
  readonly isCreatedByUpdate?: true;
  /** A PUT has to say which version it replaces; so has one of every custom kind. */
  readonly isNeverOverwritten?: true;
}
