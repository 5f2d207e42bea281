/** Server-side apply: the fields a manager wants, merged over what there is; what is missing is created. */
import { applyConfig } from '#api/fields/apply.ts';
import type { Kind } from '#api/kind.ts';
import type { KindObject, ManagedFieldsEntry } from '#api/meta.ts';
import { AlreadyExistsError, NotFoundError } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import type { WriteOptions } from '#store/store.ts';
import { objectAnswer } from '../answer.ts';
import { canSee } from '../auth/visibility.ts';
import { checkObjectWrite } from '../authorised.ts';
import type { Decoded } from '../body/decode.ts';
import type { Answer, Call, Serving } from '../call.ts';
import { inNamespace, namedAs } from '../decode.ts';
import { invalidField } from '../errors.ts';
import { checkedForm } from '../event-writes.ts';
import { storedForm } from '../forms.ts';
import { keyOfRoute } from '../key.ts';
import { kindTypeProblem } from '../kind-types.ts';
import { finalizerWarnings } from '../metadata-warnings.ts';
import { checkNamespace } from '../namespaces.ts';
import { apiVersionOf, qualifiedName } from '../resources.ts';
import { badRequest, failure, type StatusError } from '../status.ts';
import { writerOf } from '../tracking.ts';
import { type WriteAsked, writeAsked } from '../write-options.ts';
import { atFrontDoor } from './front-door.ts';

export async function applyConfiguration(call: Call, serving: Serving, patch: Decoded<JsonObject>): Promise<Answer> {
  const { route } = call;
  const asked = writeAsked(call, 'PatchOptions', true);
  const config = storedForm(route, checkedConfig(call, patch.value));
  const { schema } = route.resource.stored as Kind;
  const writer = writerOf(call, asked, serving);
  let isNew = false;
  let owners: ManagedFieldsEntry[] | undefined;
  const change = (live: KindObject | undefined): KindObject => {
    isNew = live === undefined;
    if (isNew && route.subresource) throw new NotFoundError('not found');
    // Before anything is compared with it: a conflict tells what is in it.
    if (live) checkLive(call, serving, { live, config });
    const applied = applyConfig({ schema, live, config, writer, force: asked.force });
    call.warnings.splice(0, call.warnings.length, ...checkedDuplicates(patch, asked));
    const next = identified(call, applied, { config, live });
    if (isNew) checkNamespace(serving.store, route, next.metadata.name);
    checkObjectWrite(call, { next, current: live }, serving.lookup);
    call.warnings.push(...finalizerWarnings(next, live));
    owners = applied.metadata.managedFields;
    checkTypes(next);
    return checkedForm(route, next, live);
  };
  const options: WriteOptions = { dryRun: asked.dryRun, track: () => owners, ...(route.subresource ? { subresource: 'status' } : {}) };
  const stored = await serving.store.modify(keyOfRoute(route), change, atFrontDoor(call, serving, options));
  const status = isNew ? 201 : 200;
  return objectAnswer(call, serving.shown(route.resource, stored), { status, clock: serving.clock });
}

/** What one may not see answers as what does not exist: may it be created? Only that its name is taken cannot be hidden. */
function checkLive(call: Call, { lookup }: Serving, { live, config }: { live: KindObject; config: KindObject }): void {
  if (!canSee(call.identity, live, lookup)) {
    checkObjectWrite(call, { next: config }, lookup);
    throw new AlreadyExistsError('already exists');
  }
  checkObjectWrite(call, { current: live }, lookup);
}

function checkedDuplicates({ duplicates }: Decoded<JsonObject>, { fieldValidation }: WriteAsked): readonly string[] {
  const problems = fieldValidation === 'Ignore' ? [] : duplicates();
  if (fieldValidation !== 'Strict' || problems.length === 0) return problems;
  const lines = problems.map((problem) => `\n  ${problem}`).join('');
  throw badRequest(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:${lines}`);
}

/** The schema of a built-in kind says less than its types do; Kubernetes, too, only finds out here. */
function checkTypes(next: KindObject): void {
  const problem = kindTypeProblem(next as unknown as JsonObject);
  if (!problem) return;
  const { apiVersion, kind, metadata } = next;
  const type = printType(apiVersion, kind);
  const what = `failed to convert new object (/${metadata.name}; ${type}) to proper version`;
  throw failure(500, `${what}: unable to convert unstructured object to ${type}: ${problem}`, { reason: '' });
}

/** Of this type, and without a record of its own; whether the rest fits is seen when it is applied. */
function checkedConfig({ route: { resource } }: Call, value: JsonObject): KindObject {
  const { apiVersion, kind, metadata } = value;
  const isOfType = apiVersion === apiVersionOf(resource) && kind === resource.kind;
  if (!isOfType) throw badRequest(`invalid object type: ${printType(apiVersion, kind)}`);
  const managedFields = isObject(metadata) ? metadata['managedFields'] : undefined;
  if (Array.isArray(managedFields) && managedFields.every(isObject)) throw badRequest('metadata.managedFields must be nil');
  // Who sees it may be asked before its shape is.
  const complete = { ...value, metadata: isObject(metadata) ? withOwnersUids(metadata) : (metadata ?? {}) };
  return complete as JsonObject as unknown as KindObject;
}

/** Owners are told apart by their uid; one that has none has an empty one, which is then refused as that. */
function withOwnersUids(metadata: JsonObject): JsonObject {
  const { ownerReferences: owners } = metadata;
  if (!Array.isArray(owners) || owners.every((owner) => !isObject(owner) || 'uid' in owner)) return metadata;
  return { ...metadata, ownerReferences: owners.map((owner: unknown) => (isObject(owner) ? { uid: '', ...owner } : owner)) };
}

/** `group/version, Kind=kind`, in which anything may be missing. */
function printType(apiVersion: unknown, kind: unknown): string {
  const parts = typeof apiVersion === 'string' ? apiVersion.split('/') : [];
  // What cannot be read as a version takes the kind with it.
  if (parts.length > 2) return '/, Kind=';
  const [version = '', group = ''] = parts.reverse();
  return `${group}/${version}, Kind=${typeof kind === 'string' ? kind : ''}`;
}

interface Versions {
  readonly config: KindObject;
  readonly live: KindObject | undefined;
}

/** What was applied as the object that the URL names, in the version that the configuration was made for if it says so. */
function identified({ route }: Call, applied: KindObject, { config, live }: Versions): KindObject {
  const { resource, name = '' } = route;
  const { uid } = applied.metadata;
  if (!live && uid) throw uidMismatch(route, uid);
  const named = namedAs(inNamespace(applied, route), name);
  if (!live) return named;
  const { uid: liveUid, resourceVersion } = live.metadata;
  const asked = config.metadata?.resourceVersion || resourceVersion;
  if (uid && uid !== liveUid && asked === resourceVersion) {
    const message = `Invalid value: ${JSON.stringify(uid)}: field is immutable`;
    throw invalidField({ resource, name, kind: resource.kind }, 'metadata.uid', message);
  }
  // The store refuses a version that is not the current one.
  return { ...named, metadata: { ...named.metadata, uid: liveUid, resourceVersion: asked } };
}

function uidMismatch({ resource, name = '' }: Call['route'], uid: string): StatusError {
  const problem = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  return failure(409, `Operation cannot be fulfilled on ${qualifiedName(resource)} ${JSON.stringify(name)}: ${problem}`, {
    details: { name, ...(resource.group ? { group: resource.group } : {}), kind: resource.plural },
  });
}
