/** A request's body as an object of the resource it was sent to: read, checked to be that kind, cut to what its schema knows. */
import type { KindObject } from '#api/meta.ts';
import { prune } from '#api/prune.ts';
import { equalJson, isObject, type JsonObject } from '#lib/json.ts';
import { shareJson } from '#lib/share.ts';
import { decodeBody, unrecognized } from './body/decode.ts';
import type { Call } from './call.ts';
import { kindTypeProblem } from './kind-types.ts';
import { metadataTypeProblem } from './metadata-types.ts';
import { withUniqueOwners } from './metadata-warnings.ts';
import { apiVersionOf, type Resource } from './resources.ts';
import { badRequest, failure } from './status.ts';
import type { WriteAsked } from './write-options.ts';

/** `known`: the object as it is, where there is one. What the body repeats of it needs no second look. */
export async function decodeObject(call: Call, { fieldValidation }: WriteAsked, known?: () => KindObject | undefined): Promise<KindObject> {
  const bytes = await call.body();
  const { resource } = call.route;
  const old = known?.();
  const { value, duplicates } = decodeBody(call.headers['content-type'], bytes, { kind: resource.kind, old });
  const identified = checkedKind(old ? sharedWith(old, value) : value, resource, { bytes, old });
  const { value: object, unknown } = pruned(resource, identified, old);
  if (fieldValidation !== 'Ignore') {
    const repeated = duplicates();
    const strange = unknownInOrder(resource, unknown);
    if (fieldValidation === 'Strict' && repeated.length + strange.length > 0) {
      throw notStrict([...inOneText(repeated), ...strange], resource);
    }
    call.warnings.push(...repeated, ...strange);
  }
  return withUniqueOwners(object, call.warnings);
}

/** Changes `value`. The record of fields is written in the server's order: who sends it in another, as clients that sort do, says the same. */
function sharedWith(old: KindObject, value: JsonObject): JsonObject {
  const shared = shareJson(value, old as unknown as JsonObject);
  const { metadata } = shared;
  const { managedFields } = old.metadata;
  if (isObject(metadata) && metadata['managedFields'] !== managedFields && equalJson(metadata['managedFields'], managedFields)) {
    metadata['managedFields'] = managedFields;
  }
  return shared;
}

/** Of a custom kind what is strange in its metadata is found first, then the rest by its name. */
export function unknownInOrder({ stored }: Resource, unknown: readonly string[]): readonly string[] {
  if (unknown.length === 0) return unknown;
  const inMetadata = (path: string) => path.startsWith('metadata.');
  const sorted = stored?.crd ? [...unknown].sort() : unknown;
  const ordered = stored?.crd ? [...sorted.filter(inMetadata), ...sorted.filter((path) => !inMetadata(path))] : sorted;
  return ordered.map((path) => `unknown field ${JSON.stringify(path)}`);
}

/** The YAML reader of Kubernetes collects what it found; JSON's says one after the other. */
function inOneText(duplicates: readonly string[]): readonly string[] {
  return duplicates[0]?.startsWith('line ') ? [`yaml: unmarshal errors:\n  ${duplicates.join('\n  ')}`] : duplicates;
}

function notStrict(problems: readonly string[], { kind, version }: Resource) {
  return badRequest(
    `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: strict decoding error: ${problems.join(', ')}`,
  );
}

export function pruned({ schema }: Resource, object: KindObject, old?: KindObject): { value: KindObject; unknown: readonly string[] } {
  return schema ? prune(schema, object, old) : { value: object, unknown: [] };
}

/** What names no kind is taken for one of this resource where kinds are not custom. */
function checkedKind(value: JsonObject, resource: Resource, { bytes, old }: { bytes: Buffer; old: KindObject | undefined }): KindObject {
  const { kind, version, stored } = resource;
  const expected = apiVersionOf(resource);
  const { apiVersion = '', kind: own = '' } = value;
  if (own === '' && stored?.crd) throw unrecognized(kind, `Object 'Kind' is missing in '${bytes.toString().trim()}'`, bytes);
  if ((apiVersion !== '' || stored?.crd) && apiVersion !== expected) {
    throw badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${expected})`);
  }
  if (own !== '' && own !== kind) throw anotherKind(value, resource);
  const metadata = value['metadata'] ?? {};
  const problem = typeProblem(metadata, own === kind ? value : { ...value, kind }, old);
  if (problem) throw badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${problem}`);
  if (own !== '' && apiVersion !== '' && value['metadata'] === metadata && !isToBeCut(metadata as JsonObject))
    return value as unknown as KindObject;
  return { ...value, apiVersion: expected, kind, metadata: cutMetadata(metadata as JsonObject) } as JsonObject as unknown as KindObject;
}

/** Nobody sets the link any more, and null is nothing; Kubernetes drops both. */
export function cutMetadata(metadata: JsonObject): JsonObject {
  if (!isToBeCut(metadata)) return metadata;
  return Object.fromEntries(Object.entries(metadata).filter(([name, member]) => name !== 'selfLink' && member !== null));
}

/** Metadata that is stored was looked at when it came. */
function typeProblem(metadata: unknown, value: JsonObject, old: KindObject | undefined): string | undefined {
  return (metadata === old?.metadata ? undefined : metadataTypeProblem(metadata)) ?? kindTypeProblem(value);
}

function isToBeCut(metadata: JsonObject): boolean {
  for (const name in metadata) if (name === 'selfLink' || metadata[name] === null) return true;
  return false;
}

export function anotherKind({ kind, metadata }: JsonObject, resource: Resource) {
  if (!resource.stored?.crd) return notConvertible(String(kind), resource);
  const message = `Invalid value: ${JSON.stringify(kind)}: must be ${resource.kind}`;
  const name = isObject(metadata) ? String(metadata['name'] ?? '') : '';
  return failure(422, `${kind}.${resource.group} ${JSON.stringify(name)} is invalid: kind: ${message}`, {
    details: {
      ...(name ? { name } : {}),
      group: resource.group,
      kind: String(kind),
      causes: [{ reason: 'FieldValueInvalid', message, field: 'kind' }],
    },
  });
}

/** Kinds that are not custom are Go types in Kubernetes, which no other becomes. */
function notConvertible(kind: string, { version, group, kind: wanted }: Resource) {
  const types = `converting (${version}.${kind}) to (${group.split('.')[0] || 'core'}.${wanted})`;
  return badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${wanted}: ${types}: unknown conversion`);
}

/** The name and namespace of the URL rule; a body that says otherwise is a mistake. */
export function inNamespace(object: KindObject, { resource, namespace }: Call['route']): KindObject {
  const own = object.metadata.namespace;
  const expected = resource.isNamespaced ? (namespace as string) : '';
  if (own && own !== expected) {
    throw badRequest(
      resource.isNamespaced
        ? 'the namespace of the provided object does not match the namespace sent on the request'
        : 'namespace must be unset for cluster-scoped resources',
    );
  }
  return own === expected ? object : { ...object, metadata: { ...object.metadata, namespace: expected } };
}

function withName(object: KindObject, name: string): KindObject {
  const own = object.metadata.name;
  if (own && own !== name) throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
  return own === name ? object : { ...object, metadata: { ...object.metadata, name } };
}

/** Where the name cannot be left out: a client that does not know it has the wrong object. */
export function namedAs(object: KindObject, name: string): KindObject {
  if (object.metadata.name) return withName(object, name);
  throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
}
