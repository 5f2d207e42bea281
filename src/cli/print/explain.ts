/** A schema for people, as kubectl explain lays it out. */
import { followReference, type OpenApiDocument, type OpenApiSchema } from '#client/openapi.ts';
import { contentOf, descriptionsOf, fieldAt, type SchemaPlace, typeName } from '#client/schema-field.ts';
import { byCodePoint } from '#lib/to-yaml.ts';

export interface Explained extends SchemaPlace {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly isRecursive: boolean;
}

const WIDTH = 80;

export function explainText(explained: Explained): string {
  const { group, version, kind, document, path } = explained;
  const field = fieldAt(explained);
  const schema = contentOf(field, document);
  const head = [...(group === '' ? [] : [`GROUP:      ${group}`]), `KIND:       ${kind}`, `VERSION:    ${version}`, ''];
  const title = path.length === 0 ? [] : [`FIELD: ${path.at(-1)} <${typeName(field, document)}>`];
  const choices = schema.enum ? ['ENUM:', ...schema.enum.map((value) => `    ${valueText(value)}`)] : [''];
  const about = path.length === 0 ? [] : [...title, ...choices, ''];
  return `${[...head, ...about, 'DESCRIPTION:', ...descriptionLines(field, document), ...fieldsSection(schema, explained)].join('\n')}\n`;
}

/** What is said about the field, and then what is said about the type it is of. */
function descriptionLines(schema: OpenApiSchema, document: OpenApiDocument): string[] {
  const said = [...new Set(descriptionsOf(schema, document))];
  if (said.length === 0) return ['    <empty>'];
  return [...said.flatMap((each) => wrap(each, WIDTH - 4)).map((line) => `    ${line}`), '    '];
}

function fieldsSection(schema: OpenApiSchema, { document, isRecursive }: Explained): string[] {
  if (!schema.properties) return [''];
  const lines = isRecursive ? recursiveLines(schema, { document, level: 1, seen: [] }) : plainLines(schema, document);
  return ['FIELDS:', ...lines, ''];
}

function plainLines({ properties = {}, required = [] }: OpenApiSchema, document: OpenApiDocument): string[] {
  return Object.keys(properties)
    .sort(byCodePoint)
    .flatMap((name) => {
      const schema = properties[name] ?? {};
      const { description } = followReference(schema, document).schema;
      const said = wrap(description || '<no description>', WIDTH - 4).map((line) => `    ${line}`);
      return [...fieldHead(name, schema, { document, isRequired: required.includes(name), indent: '  ' }), ...said, ''];
    });
}

interface Level {
  readonly document: OpenApiDocument;
  readonly level: number;
  /** Schemas on the way here: one of them again would never end. */
  readonly seen: readonly OpenApiSchema[];
}

function recursiveLines(schema: OpenApiSchema, { document, level, seen }: Level): string[] {
  const { properties = {}, required = [] } = schema;
  return Object.keys(properties)
    .sort(byCodePoint)
    .flatMap((name) => {
      const field = properties[name] ?? {};
      const inner = contentOf(field, document);
      const isLoop = seen.includes(inner);
      const head = fieldHead(name, field, { document, isRequired: required.includes(name), indent: '  '.repeat(level) });
      return isLoop ? head : [...head, ...recursiveLines(inner, { document, level: level + 1, seen: [...seen, inner] })];
    });
}

function fieldHead(
  name: string,
  schema: OpenApiSchema,
  { document, isRequired, indent }: { document: OpenApiDocument; isRequired: boolean; indent: string },
): string[] {
  const choices = followReference(schema, document).schema.enum;
  const head = `${indent}${name}\t<${typeName(schema, document)}>${isRequired ? ' -required-' : ''}`;
  return choices ? [head, `${indent}enum: ${choices.map(valueText).join(', ')}`] : [head];
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Paragraphs keep their line ends; words that do not fit go to the next line. */
function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = [];
    for (const word of paragraph.split(/ +/)) {
      const last = lines.at(-1);
      if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
      else lines.push(word);
    }
    return lines;
  });
}
