/** A field of a schema: found by its path, with what is in it, of which type, and what is said about it. Pure. */
import { NotFoundError } from '#lib/errors.ts';
import { nearest } from '#lib/suggest.ts';
import { followReference, type OpenApiDocument, type OpenApiSchema, referenceOf } from './openapi.ts';

export interface SchemaPlace {
  readonly schema: OpenApiSchema;
  readonly document: OpenApiDocument;
  /** `spec.roles.name` after the kind. */
  readonly path: readonly string[];
}

/** Throws NotFoundError with the name that was probably meant. */
export function fieldAt({ schema, document, path }: SchemaPlace): OpenApiSchema {
  let at = schema;
  for (const name of path) {
    const { properties = {} } = contentOf(at, document);
    const next = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!next) throw noField(name, Object.keys(properties));
    at = next;
  }
  return at;
}

function noField(name: string, known: readonly string[]): NotFoundError {
  const meant = nearest(name, known);
  return new NotFoundError(`field "${name}" does not exist${meant ? `; did you mean ${meant}?` : ''}`);
}

/** The object in it: what a list has as items, what a map has as values. */
export function contentOf(schema: OpenApiSchema, document: OpenApiDocument): OpenApiSchema {
  const { schema: followed } = followReference(schema, document);
  if (followed.properties) return followed;
  if (followed.items) return contentOf(followed.items, document);
  if (typeof followed.additionalProperties === 'object') return contentOf(followed.additionalProperties, document);
  return followed;
}

export function typeName(schema: OpenApiSchema, document: OpenApiDocument): string {
  const { schema: followed, name } = followReference(schema, document);
  if (followed.items) return `[]${typeName(followed.items, document)}`;
  if (typeof followed.additionalProperties === 'object') return `map[string]${typeName(followed.additionalProperties, document)}`;
  // What is called Time is a text to those who write it.
  return !followed.type || followed.type === 'object' ? (name ?? 'Object') : followed.type;
}

/** What is said about the field, and then what is said about the type it is of. */
export function descriptionsOf(schema: OpenApiSchema, document: OpenApiDocument): string[] {
  const target = referenceOf(schema, document);
  const inner = (target ?? schema).items;
  const own = schema.description ? [schema.description] : [];
  const ofTarget = target ? descriptionsOf(target, document) : [];
  return [...own, ...ofTarget, ...(inner && !target ? descriptionsOf(inner, document) : [])];
}
