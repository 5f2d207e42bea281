/** A resource of the API as a client has to know it. */
export interface ServedResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
}
