/** The text of a module that does what src/api/validators.ts does, with the checks of all kinds compiled. */
import standalone from 'ajv/dist/standalone/index.js';
import { schemaCompiler, withMetadata } from '#api/compile-schema.ts';
import { kinds } from '#api/kinds.ts';
import type { Schema } from '#api/schema.ts';
import { isObject } from '#lib/json.ts';

export function validatorsText(): string {
  const ajv = schemaCompiler({ source: true, esm: true });
  const names = kinds.map(({ kind }) => kind);
  for (const { kind, schema } of kinds) ajv.addSchema(withoutDescriptions(withMetadata(schema)), kind);
  const checks = standalone.default(ajv, Object.fromEntries(names.map((name) => [name, name])));
  const known = `const known = { ${names.join(', ')} };`;
  return `${checks}\n${known}\nexport function validatorOf(kind) {\n  return known[kind];\n}\n`;
}

/** They are half of the text, and no check reads them. A field may have that name, too; then it is a schema. */
function withoutDescriptions(schema: Schema): Schema {
  const { description: _description, properties, items, additionalProperties, ...rest } = schema;
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, withoutDescriptions(field)])),
    }),
    ...(items && { items: withoutDescriptions(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: isObject(additionalProperties) ? withoutDescriptions(additionalProperties as Schema) : additionalProperties,
    }),
  };
}
