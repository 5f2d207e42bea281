/** How ajv is asked to turn a schema of Kubernetes into a function. */
import { Ajv, type Options } from 'ajv';
import { ADMITTED_META, type Schema } from './schema.ts';

const KUBERNETES_KEYWORDS = [
  'x-kubernetes-validations',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-int-or-string',
];
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const KUBERNETES_FORMATS = { int32: true, int64: true, float: true, double: true, 'date-time': DATE_TIME } as const;

export function schemaCompiler(code: NonNullable<Options['code']> = {}): Ajv {
  return new Ajv({
    allErrors: true,
    strict: true,
    keywords: KUBERNETES_KEYWORDS,
    formats: KUBERNETES_FORMATS,
    strictTypes: false,
    strictRequired: false,
    // That they are schemas is for the tests to say: asking at every start takes longer than compiling them.
    meta: false,
    validateSchema: false,
    code,
  });
}

/** A CRD says nothing of metadata. */
export function withMetadata(schema: Schema): Schema {
  return { ...schema, properties: { ...schema.properties, metadata: ADMITTED_META } };
}
