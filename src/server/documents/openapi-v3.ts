/** OpenAPI 3.0: one document per group and version, and the index that names them by their fingerprints. */
import { type Document, jsonDocument, lazy, lazyEach } from './document.ts';
import { type GroupVersion, groupVersions } from './groups.ts';
import { reference } from './model-names.ts';
import { modelsOf } from './models.ts';
import { type Operation, operationsOf } from './operations.ts';
import { actionParameters, type Parameter, pathParameters } from './parameters.ts';
import { GIT_VERSION } from './version.ts';

const ANSWER_TYPES = ['application/json', 'application/yaml'];
const DESCRIPTIONS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };

function parameter({ name, in: place, type, description }: Parameter) {
  return { name, in: place, description, ...(place === 'path' && { required: true }), schema: { type, uniqueItems: true } };
}

function content(types: readonly string[], model: string) {
  return Object.fromEntries(types.map((type) => [type, { schema: reference(model) }]));
}

function responses({ codes, answer }: Operation) {
  const answers = codes.map((code) => [String(code), { description: DESCRIPTIONS[code], content: content(ANSWER_TYPES, answer) }]);
  return Object.fromEntries([...answers, ['401', { description: 'Unauthorized' }]]);
}

function operationObject(operation: Operation, parameters: readonly Parameter[]) {
  const { id, tag, description, action, target, body, consumes } = operation;
  return {
    tags: [tag],
    description,
    operationId: id,
    ...(parameters.length > 0 && { parameters: parameters.map(parameter) }),
    ...(body && { requestBody: { content: content(consumes, body.model), ...(body.isRequired && { required: true }) } }),
    responses: responses(operation),
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': target,
  };
}

function pathObject(path: string, operations: readonly Operation[]) {
  const [first] = operations;
  // What all operations of a path take stands beside them: where there is but one, all it takes.
  const shared = operations.length === 1 && first ? actionParameters[first.action] : [];
  const own = ({ action }: Operation) => (operations.length === 1 ? [] : actionParameters[action]);
  return {
    ...Object.fromEntries(operations.map((operation) => [operation.method, operationObject(operation, own(operation))])),
    parameters: [...pathParameters(path, first?.target.kind ?? ''), ...shared].map(parameter),
  };
}

export function openApiV3(version: GroupVersion) {
  const paths = [...operationsOf([version])].map(([path, operations]) => [path, pathObject(path, operations)]);
  return {
    openapi: '3.0.0',
    info: { title: 'agentiso', version: GIT_VERSION },
    paths: Object.fromEntries(paths),
    components: { schemas: Object.fromEntries(modelsOf([version])) },
  };
}

const documentAt = lazyEach((path) => {
  const version = groupVersions.find((candidate) => candidate.path === path);
  if (!version) throw new Error(`${path}: no such group version`);
  return jsonDocument(openApiV3(version));
});

/** The document of `api/v1`, `apis/agentiso.dev/v1alpha1`, ... */
export function openApiV3Document(path: string): Document | undefined {
  return groupVersions.some((version) => version.path === path) ? documentAt(path) : undefined;
}

/** Asked for at every write. */
export const openApiV3Index: () => Document = lazy(() => {
  const entries = groupVersions.map(({ path }) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${documentAt(path).etag}` }]);
  return jsonDocument({ paths: Object.fromEntries(entries) });
});
