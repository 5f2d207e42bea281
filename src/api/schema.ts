/** The parts of a CustomResourceDefinition that we read. */

export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  /** Gives the message; the other one counts where it fails. */
  readonly messageExpression?: string;
  readonly fieldPath?: string;
  readonly reason?: string;
}

export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly format?: string;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'granular' | 'atomic';
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly [keyword: string]: unknown;
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly description?: string;
  readonly jsonPath: string;
  readonly priority?: number;
}

export interface CustomResourceDefinition {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly versions: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly storage: boolean;
      readonly subresources?: Readonly<Record<string, unknown>>;
      readonly additionalPrinterColumns?: readonly PrinterColumn[];
      readonly selectableFields?: readonly { readonly jsonPath: string }[];
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

/** What ObjectMeta allows; a CRD says only `metadata: { type: object }`. */
const text: Schema = { type: 'string' };
const textMap: Schema = { type: 'object', additionalProperties: text };
export const OBJECT_META: Schema = {
  type: 'object',
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    labels: textMap,
    annotations: textMap,
    uid: text,
    resourceVersion: text,
    generation: { type: 'integer' },
    creationTimestamp: { type: 'string', nullable: true },
    deletionTimestamp: { type: 'string', nullable: true },
    deletionGracePeriodSeconds: { type: 'integer', nullable: true },
    ownerReferences: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      items: {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        required: ['apiVersion', 'kind', 'name', 'uid'],
        properties: {
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
    finalizers: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
    selfLink: text,
    managedFields: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  },
};

const { required: _required, ...ADMITTED_OWNER } = OBJECT_META.properties?.['ownerReferences']?.items ?? {};

/**
 * As admission sees it: a finalizer may be there twice, which Kubernetes lets pass; only whoever applies may not name it twice. What an
 * owner lacks is said by the rules of metadata.
 */
export const ADMITTED_META: Schema = {
  ...OBJECT_META,
  properties: {
    ...OBJECT_META.properties,
    finalizers: { type: 'array', items: text },
    ownerReferences: { ...OBJECT_META.properties?.['ownerReferences'], items: ADMITTED_OWNER },
  },
};
