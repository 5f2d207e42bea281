/** Every request that the served resources take, free of the version of OpenAPI that describes it. */
import type { Resource } from '../resources.ts';
import type { GroupVersion } from './groups.ts';
import { metaModel, modelName } from './model-names.ts';
import type { Action } from './parameters.ts';

export interface Operation {
  readonly path: string;
  readonly method: 'get' | 'put' | 'post' | 'delete' | 'patch';
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  readonly action: Action;
  readonly target: { readonly group: string; readonly version: string; readonly kind: string };
  readonly consumes: readonly string[];
  readonly body?: { readonly model: string; readonly isRequired: boolean };
  readonly answer: string;
  readonly codes: readonly number[];
}

interface ActionShape {
  readonly verb: string;
  readonly method: Operation['method'];
  readonly word: string;
  readonly sentence: string;
  readonly codes: readonly number[];
}

const SHAPES: Readonly<Record<Action, ActionShape>> = {
  list: { verb: 'list', method: 'get', word: 'list', sentence: 'list objects of kind', codes: [200] },
  post: { verb: 'create', method: 'post', word: 'create', sentence: 'create one', codes: [200, 201, 202] },
  deletecollection: { verb: 'deletecollection', method: 'delete', word: 'delete', sentence: 'delete collection of', codes: [200] },
  get: { verb: 'get', method: 'get', word: 'read', sentence: 'read the specified', codes: [200] },
  put: { verb: 'update', method: 'put', word: 'replace', sentence: 'replace the specified', codes: [200, 201] },
  delete: { verb: 'delete', method: 'delete', word: 'delete', sentence: 'delete one', codes: [200, 202] },
  patch: { verb: 'patch', method: 'patch', word: 'patch', sentence: 'partially update the specified', codes: [200, 201] },
};
const ON_COLLECTION: readonly Action[] = ['list', 'post', 'deletecollection'];
const ON_ITEM: readonly Action[] = ['get', 'put', 'delete', 'patch'];

const OBJECT_TYPES = ['application/json', 'application/yaml'];
const PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];
const STRATEGIC = 'application/strategic-merge-patch+json';

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** `agentisoDev`, `events`, `core`. */
function shortGroup(group: string): string {
  const [first = '', ...rest] = (group === '' ? 'core' : group.replace(/\.k8s\.io$/, '')).split('.');
  return first + rest.map(upperFirst).join('');
}

function consumed(action: Action, { stored }: Resource): readonly string[] {
  if (action !== 'patch') return OBJECT_TYPES;
  // Clients have the Go types of Kubernetes' own kinds, and send them the patches that need these.
  return stored?.crd ? PATCH_TYPES : [...PATCH_TYPES, STRATEGIC];
}

function bodyModel(action: Action, own: string): Operation['body'] {
  if (action === 'post' || action === 'put') return { model: own, isRequired: true };
  if (action === 'patch') return { model: metaModel('Patch'), isRequired: true };
  if (action === 'delete' || action === 'deletecollection') return { model: metaModel('DeleteOptions'), isRequired: false };
  return undefined;
}

function answerModel(action: Action, resource: Resource): string {
  if (action === 'list') return modelName(resource, resource.listKind);
  if (action === 'delete' || action === 'deletecollection') return metaModel('Status');
  return modelName(resource, resource.kind);
}

interface Place {
  readonly path: string;
  readonly subresource?: string;
  readonly isAllNamespaces?: boolean;
}

function operation(resource: Resource, action: Action, place: Place): Operation {
  const { group, version, kind, isNamespaced } = resource;
  const shape = SHAPES[action];
  const body = bodyModel(action, modelName(resource, kind));
  const scope = isNamespaced && !place.isAllNamespaces ? 'Namespaced' : '';
  const id = [
    shape.word,
    upperFirst(shortGroup(group)),
    upperFirst(version),
    action === 'deletecollection' ? 'Collection' : '',
    `${scope}${kind}`,
    place.isAllNamespaces ? 'ForAllNamespaces' : '',
    upperFirst(place.subresource ?? ''),
  ].join('');
  return {
    path: place.path,
    method: shape.method,
    id,
    tag: `${shortGroup(group)}_${version}`,
    description: `${shape.sentence} ${kind}${place.subresource ? `, its ${place.subresource} only` : ''}`,
    action,
    target: { group, version, kind },
    consumes: consumed(action, resource),
    ...(body && { body }),
    answer: answerModel(action, resource),
    // Applying creates objects, but not parts of them.
    codes: action === 'patch' && place.subresource ? [200] : shape.codes,
  };
}

function allowed(actions: readonly Action[], verbs: readonly string[]): readonly Action[] {
  return actions.filter((action) => verbs.includes(SHAPES[action].verb));
}

function operationsOfResource({ path: root }: GroupVersion, resource: Resource): readonly Operation[] {
  const { plural, verbs, isNamespaced, subresources } = resource;
  const everywhere = `/${root}/${plural}`;
  const path = isNamespaced ? `/${root}/namespaces/{namespace}/${plural}` : everywhere;
  const item = `${path}/{name}`;
  const lists = isNamespaced ? allowed(['list'], verbs) : [];
  return [
    ...lists.map((action) => operation(resource, action, { path: everywhere, isAllNamespaces: true })),
    ...allowed(ON_COLLECTION, verbs).map((action) => operation(resource, action, { path })),
    ...allowed(ON_ITEM, verbs).map((action) => operation(resource, action, { path: item })),
    ...subresources.flatMap(({ name, verbs: own, isStream }) =>
      allowed(isStream ? [] : ON_ITEM, own).map((action) => operation(resource, action, { path: `${item}/${name}`, subresource: name })),
    ),
  ];
}

/** All operations of some versions, by path. */
export function operationsOf(versions: readonly GroupVersion[]): ReadonlyMap<string, readonly Operation[]> {
  const byPath = new Map<string, Operation[]>();
  for (const version of versions) {
    for (const found of version.resources.flatMap((resource) => operationsOfResource(version, resource))) {
      byPath.set(found.path, [...(byPath.get(found.path) ?? []), found]);
    }
  }
  return byPath;
}
