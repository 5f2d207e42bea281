/** JSON Schemas of tools as rows of a table: one per field, nested ones by their path. Pure. */
import type { JsonSchema } from '../src/protocol/shape.ts';

export interface SchemaRow {
  /** `roles[].name` */
  readonly field: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

interface Schema extends JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
  readonly enum?: readonly unknown[];
}

export function schemaRows(schema: JsonSchema, prefix = ''): SchemaRow[] {
  const { properties = {}, required = [] } = schema as Schema;
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const row = { field: path, type: typeText(field), isRequired: required.includes(name), description: field.description ?? '' };
    return [row, ...inside(field, path)];
  });
}

function inside(schema: Schema, path: string): SchemaRow[] {
  const { items, anyOf, additionalProperties } = schema;
  if (items) return inside(items, `${path}[]`);
  if (anyOf) return anyOf.flatMap((each) => inside(each, path));
  if (typeof additionalProperties === 'object') return inside(additionalProperties, `${path}.*`);
  return schemaRows(schema, `${path}.`);
}

export function typeText(schema: Schema): string {
  const { type = 'anything', items, anyOf, additionalProperties, enum: words } = schema;
  if (words) return words.map((word) => `\`${word}\``).join(', ');
  if (anyOf) return anyOf.map(typeText).join(' or ');
  if (items) return `list of ${typeText(items)}${rangeText(schema['minItems'], schema['maxItems'])}`;
  if (typeof additionalProperties === 'object') return `map of ${typeText(additionalProperties)}`;
  return `${type}${rangeText(schema['minimum'], schema['maximum'])}${lengthText(schema)}`;
}

function lengthText(schema: Schema): string {
  return schema['maxLength'] === undefined ? '' : `, at most ${schema['maxLength']} characters`;
}

function rangeText(min: unknown, max: unknown): string {
  const isOpen = max === undefined || max === Number.MAX_SAFE_INTEGER;
  if (min === undefined && isOpen) return '';
  if (isOpen) return ` from ${min}`;
  return min === undefined ? ` up to ${max}` : ` ${min} to ${max}`;
}
