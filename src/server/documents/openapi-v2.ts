/** OpenAPI 2.0, that is Swagger: everything in one document. */
import { groupVersions } from './groups.ts';
import { modelsOf } from './models.ts';
import { type Operation, operationsOf } from './operations.ts';
import { actionParameters, type Parameter, pathParameters } from './parameters.ts';
import { type SchemaV2, schemaV2 } from './schema-v2.ts';
import { GIT_VERSION } from './version.ts';

const ANSWER_TYPES: readonly string[] = ['application/json', 'application/yaml'];
const DESCRIPTIONS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };

export interface ParameterV2 {
  readonly name: string;
  readonly in: 'query' | 'path' | 'body';
  readonly [word: string]: unknown;
}

export interface OperationV2 {
  readonly parameters: readonly ParameterV2[];
  readonly responses: Readonly<Record<string, { readonly description: string; readonly schema?: SchemaV2 }>>;
  readonly [word: string]: unknown;
}

export interface PathV2 {
  readonly parameters: readonly ParameterV2[];
  readonly operations: Readonly<Partial<Record<Operation['method'], OperationV2>>>;
}

export interface SwaggerDocument {
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, PathV2>>;
  readonly definitions: Readonly<Record<string, SchemaV2>>;
}

function parameter({ name, in: place, type, description }: Parameter): ParameterV2 {
  return { uniqueItems: true, type, description, name, in: place, ...(place === 'path' && { required: true }) };
}

function responses({ codes, answer }: Operation): OperationV2['responses'] {
  const schema = { $ref: `#/definitions/${answer}` };
  const answers = codes.map((code) => [String(code), { description: DESCRIPTIONS[code] ?? '', schema }] as const);
  return Object.fromEntries([...answers, ['401', { description: 'Unauthorized' }]]);
}

function operationV2(operation: Operation): OperationV2 {
  const { id, tag, description, action, target, body, consumes } = operation;
  const bodies: readonly ParameterV2[] = body
    ? [{ name: 'body', in: 'body', ...(body.isRequired && { required: true }), schema: { $ref: `#/definitions/${body.model}` } }]
    : [];
  return {
    description,
    consumes,
    produces: ANSWER_TYPES,
    schemes: ['https'],
    tags: [tag],
    operationId: id,
    parameters: [...bodies, ...actionParameters[action].map(parameter)],
    responses: responses(operation),
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': target,
  };
}

function pathV2(path: string, operations: readonly Operation[]): PathV2 {
  return {
    operations: Object.fromEntries(operations.map((operation) => [operation.method, operationV2(operation)])),
    parameters: pathParameters(path, operations[0]?.target.kind ?? '').map(parameter),
  };
}

/** The document in parts, for both of its encodings. */
export function swagger(): SwaggerDocument {
  const paths = [...operationsOf(groupVersions)].map(([path, operations]) => [path, pathV2(path, operations)]);
  const definitions = [...modelsOf(groupVersions)].map(([name, schema]) => [name, schemaV2(schema)]);
  return {
    info: { title: 'agentiso', version: GIT_VERSION },
    paths: Object.fromEntries(paths),
    definitions: Object.fromEntries(definitions),
  };
}

export function openApiV2({ info, paths, definitions }: SwaggerDocument) {
  const written = Object.entries(paths).map(([path, { operations, parameters }]) => [path, { ...operations, parameters }]);
  return { swagger: '2.0', info, paths: Object.fromEntries(written), definitions };
}
