/**
 * The Swagger document as protobuf message `openapi.v2.Document` of gnostic, the only form in which kubectl reads it. The numbers are those
 * of gnostic's OpenAPIv2.proto.
 */
import type { OperationV2, ParameterV2, PathV2, SwaggerDocument } from './openapi-v2.ts';
import { alternativeBool, bool, double, type Field, int64, message, nested, string, strings } from './protobuf-writer.ts';
import type { SchemaV2 } from './schema-v2.ts';

type Encode = (number: number, value: unknown) => Field;
type Words = Readonly<Record<string, unknown>>;
type Numbered = readonly [word: string, number: number, encode: Encode];

const asString: Encode = (number, value) => string(number, value as string);
const asStrings: Encode = (number, value) => strings(number, value as readonly string[]);
const asInt64: Encode = (number, value) => int64(number, value as number);
const asDouble: Encode = (number, value) => double(number, value as number);
const asBool: Encode = (number, value) => bool(number, value as boolean);

/** Values of any shape travel as YAML text, and JSON is YAML. */
const asAny: Encode = (number, value) => nested(number, message([string(2, JSON.stringify(value))]));
const asAnys: Encode = (number, value) => message((value as readonly unknown[]).map((each) => asAny(number, each)));

function namedField(number: number, name: string, value: Buffer): Field {
  return nested(number, message([string(1, name), nested(2, value)]));
}

function fieldsOf(words: Words, table: readonly Numbered[]): Field[] {
  return table.map(([word, number, encode]) => (words[word] === undefined ? undefined : encode(number, words[word])));
}

function extensions(number: number, words: Words): Field[] {
  return Object.entries(words)
    .filter(([word]) => word.startsWith('x-'))
    .map(([word, value]) => namedField(number, word, message([string(2, JSON.stringify(value))])));
}

const asSchema: Encode = (number, value) => nested(number, schema(value as SchemaV2));
const asType: Encode = (number, value) => nested(number, message([string(1, value as string)]));
const asItems: Encode = (number, value) => nested(number, message([asSchema(1, value)]));
const asAdditional: Encode = (number, value) =>
  nested(number, message([typeof value === 'boolean' ? alternativeBool(2, value) : asSchema(1, value)]));
const asNamedSchemas: Encode = (number, value) =>
  nested(
    number,
    message(Object.entries(value as Readonly<Record<string, SchemaV2>>).map(([name, each]) => namedField(1, name, schema(each)))),
  );

const SCHEMA: readonly Numbered[] = [
  ['$ref', 1, asString],
  ['format', 2, asString],
  ['title', 3, asString],
  ['description', 4, asString],
  ['default', 5, asAny],
  ['multipleOf', 6, asDouble],
  ['maximum', 7, asDouble],
  ['exclusiveMaximum', 8, asBool],
  ['minimum', 9, asDouble],
  ['exclusiveMinimum', 10, asBool],
  ['maxLength', 11, asInt64],
  ['minLength', 12, asInt64],
  ['pattern', 13, asString],
  ['maxItems', 14, asInt64],
  ['minItems', 15, asInt64],
  ['uniqueItems', 16, asBool],
  ['maxProperties', 17, asInt64],
  ['minProperties', 18, asInt64],
  ['required', 19, asStrings],
  ['enum', 20, asAnys],
  ['additionalProperties', 21, asAdditional],
  ['type', 22, asType],
  ['items', 23, asItems],
  ['properties', 25, asNamedSchemas],
  ['example', 30, asAny],
];

function schema(words: SchemaV2): Buffer {
  return message([...fieldsOf(words, SCHEMA), ...extensions(31, words)]);
}

const BODY_PARAMETER: readonly Numbered[] = [
  ['description', 1, asString],
  ['name', 2, asString],
  ['in', 3, asString],
  ['required', 4, asBool],
  ['schema', 5, asSchema],
];
const QUERY_PARAMETER: readonly Numbered[] = [
  ['required', 1, asBool],
  ['in', 2, asString],
  ['description', 3, asString],
  ['name', 4, asString],
  ['type', 6, asString],
  ['uniqueItems', 20, asBool],
];
const PATH_PARAMETER: readonly Numbered[] = [
  ['required', 1, asBool],
  ['in', 2, asString],
  ['description', 3, asString],
  ['name', 4, asString],
  ['type', 5, asString],
  ['uniqueItems', 19, asBool],
];

/** Parameter is one of two, and a parameter outside the body one of four. */
function parameterChoice(parameter: ParameterV2): Field {
  if (parameter.in === 'body') return nested(1, message(fieldsOf(parameter, BODY_PARAMETER)));
  const [choice, table] = parameter.in === 'query' ? ([3, QUERY_PARAMETER] as const) : ([4, PATH_PARAMETER] as const);
  return nested(2, message([nested(choice, message(fieldsOf(parameter, table)))]));
}

const asParameters: Encode = (number, value) =>
  message((value as readonly ParameterV2[]).map((each) => nested(number, message([nested(1, message([parameterChoice(each)]))]))));

const asResponses: Encode = (number, value) => {
  const codes = Object.entries(value as OperationV2['responses']).map(([code, { description, schema: answer }]) => {
    const response = message([string(1, description), answer && nested(2, message([asSchema(1, answer)]))]);
    return namedField(1, code, message([nested(1, response)]));
  });
  return nested(number, message(codes));
};

const OPERATION: readonly Numbered[] = [
  ['tags', 1, asStrings],
  ['description', 3, asString],
  ['operationId', 5, asString],
  ['produces', 6, asStrings],
  ['consumes', 7, asStrings],
  ['parameters', 8, asParameters],
  ['responses', 9, asResponses],
  ['schemes', 10, asStrings],
];

const asOperation: Encode = (number, value) =>
  nested(number, message([...fieldsOf(value as Words, OPERATION), ...extensions(13, value as Words)]));

const PATH: readonly Numbered[] = [
  ['get', 2, asOperation],
  ['put', 3, asOperation],
  ['post', 4, asOperation],
  ['delete', 5, asOperation],
  ['patch', 8, asOperation],
];

function pathItem({ operations, parameters }: PathV2): Buffer {
  return message([...fieldsOf(operations, PATH), asParameters(9, parameters)]);
}

export const SWAGGER_PROTOBUF_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

export function openApiV2Protobuf({ info, paths, definitions }: SwaggerDocument): Buffer {
  const items = Object.entries(paths).map(([path, item]) => namedField(2, path, pathItem(item)));
  return message([
    string(1, '2.0'),
    nested(2, message([string(1, info.title), string(2, info.version)])),
    nested(8, message(items)),
    asNamedSchemas(9, definitions),
  ]);
}
