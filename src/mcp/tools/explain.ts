/** explain: what the fields of a kind mean and accept. */
import { followReference, loadSchema, type OpenApiDocument, type OpenApiSchema } from '#client/openapi.ts';
import { contentOf, descriptionsOf, fieldAt, typeName } from '#client/schema-field.ts';
import { described, flag, list, object, text } from '#protocol/shape.ts';
import { kindField, plainText } from '../objects/fields.ts';
import { findKind } from '../objects/find-kind.ts';
import { toRefusal } from '../objects/refusal.ts';
import { defineTool } from '../tool.ts';

const input = object(
  { kind: kindField },
  { field: described(plainText(1_000), 'A path below the kind, such as spec.roles.count; the whole kind when absent.') },
);

const about = {
  type: text,
  description: text,
  default: described(text, 'As JSON: what it is when it is not given.'),
  values: described(list(text), 'Only these are accepted.'),
  range: described(text, 'Numbers from and to.'),
};

const output = object(
  { kind: text, api_version: text, field: text, fields: list(object({ name: text, is_required: flag, type: text }, about)) },
  about,
);

export const explain = defineTool({
  name: 'explain',
  title: 'Explain a kind or field',
  description:
    'Says what a kind or one of its fields means: type, default, accepted values, and the fields below it. Use it before you write a manifest for apply, or when a field was refused. Lists are entered by name: spec.roles.count.',
  input,
  output,
  category: 'default',
  isReadOnly: true,
  resource: ({ kind }) => kind.toLowerCase(),
  async run({ kind, field = '' }, { connection }) {
    const resource = findKind(kind);
    const { schema, document } = await loadSchema(connection, resource);
    const path = field.split('.').flatMap((part) => part.replace(/\[\d*\]/g, '') || []);
    const found = at({ schema, document, path }, resource.kind);
    const { group, version } = resource;
    const { properties = {}, required = [] } = contentOf(found, document);
    return {
      kind: resource.kind,
      api_version: group === '' ? version : `${group}/${version}`,
      field: path.join('.'),
      ...aboutField(found, document),
      fields: Object.entries(properties).map(([name, each]) => ({
        name,
        is_required: required.includes(name),
        ...aboutField(each, document),
      })),
    };
  },
});

function at(place: Parameters<typeof fieldAt>[0], kind: string): OpenApiSchema {
  try {
    return fieldAt(place);
  } catch (error) {
    throw toRefusal(error, `call explain with kind ${kind} and a shorter field to see the fields there are`);
  }
}

function aboutField(schema: OpenApiSchema, document: OpenApiDocument) {
  const { schema: followed } = followReference(schema, document);
  const { default: usual, minimum, maximum } = followed;
  const description = [...new Set(descriptionsOf(schema, document))].join(' ');
  const values = contentOf(schema, document).enum;
  return {
    type: typeName(schema, document),
    ...(description === '' ? {} : { description }),
    ...(usual === undefined ? {} : { default: JSON.stringify(usual) }),
    ...(values === undefined ? {} : { values: values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))) }),
    ...(minimum === undefined && maximum === undefined ? {} : { range: `${minimum ?? ''}..${maximum ?? ''}` }),
  };
}
