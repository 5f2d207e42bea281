/**
 * The check of each kind's schema. To compile those of a team takes half a second of a slow processor, so that the built program has them
 * compiled: there scripts/compiled-validators.mjs puts all of them in the place of this file.
 */
import type { ValidateFunction } from 'ajv';
import { schemaCompiler } from './compile-schema.ts';
import type { Schema } from './schema.ts';

export function validatorOf(_kind: string, schema: Schema): ValidateFunction {
  return schemaCompiler().compile(schema);
}
