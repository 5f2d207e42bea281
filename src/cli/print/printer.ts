/** What all formats of -o have in common. */
import type { ApiObject } from '#client/resource-api.ts';

/** What is printed: one object, or the objects of a list, which then is a list also in the output. */
export interface Printed {
  readonly objects: readonly ApiObject[];
  readonly isList: boolean;
}

export type PrintObjects = (printed: Printed) => string;

export interface PrinterOptions {
  /** metadata.managedFields are for machines: left out of yaml and json unless asked for. */
  readonly withManagedFields?: boolean;
  readonly withHeaders?: boolean;
  /** `team.agentiso.dev` of an object. */
  readonly typeName: (object: ApiObject) => string;
}
