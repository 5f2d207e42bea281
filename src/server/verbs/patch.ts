/** patch: JSON patch, merge patch, strategic merge patch for core kinds, and server-side apply, on an object or its status. */
import { goJson } from '#api/fields/go-text.ts';
import type { KindObject } from '#api/meta.ts';
import { NotFoundError } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';
import { objectAnswer } from '../answer.ts';
import { checkObjectWrite } from '../authorised.ts';
import { type DecodedPatch, decodePatch } from '../body/decode-patch.ts';
import { applyJsonPatch, strangePatchFields } from '../body/json-patch.ts';
import { applyMergePatch } from '../body/merge-patch.ts';
import { applyStrategicPatch } from '../body/strategic-patch.ts';
import type { Answer, Call, Serving } from '../call.ts';
import { anotherKind, cutMetadata, inNamespace, namedAs, pruned, unknownInOrder } from '../decode.ts';
import { checkedForm } from '../event-writes.ts';
import { checkDeletion, checkUid } from '../immutable.ts';
import { keyOfRoute } from '../key.ts';
import { kindTypeProblem } from '../kind-types.ts';
import { metadataTypeProblem } from '../metadata-types.ts';
import { finalizerWarnings, withUniqueOwners } from '../metadata-warnings.ts';
import type { Resource } from '../resources.ts';
import { failure } from '../status.ts';
import { trackedWrite } from '../tracking.ts';
import { checkVersion, isVersioned, withVersion } from '../update-version.ts';
import { type WriteAsked, writeAsked } from '../write-options.ts';
import { applyConfiguration } from './apply.ts';
import { atFrontDoor } from './front-door.ts';

const STRATEGIC = 'application/strategic-merge-patch+json';

export async function patchObject(call: Call, serving: Serving): Promise<Answer> {
  const bytes = await call.body();
  const patch = isStrategic(call) ? strategic(bytes) : decodePatch(call.headers['content-type'], bytes);
  if (patch.type === 'apply-patch') return applyConfiguration(call, serving, patch);
  const asked = writeAsked(call, 'PatchOptions');
  const change = (current: KindObject | undefined): KindObject => {
    if (!current) throw new NotFoundError('not found');
    // Before anything is compared: a failed test would tell what is there.
    checkObjectWrite(call, { current }, serving.lookup);
    const patched = PATCHES[patch.type](serving.shown(call.route.resource, current) as unknown as JsonObject, patch.value);
    const next = checkedPatch(call, patched, asked, patch);
    checkVersion(call, next.metadata.resourceVersion);
    checkUid(call, next, current);
    checkDeletion(call, next, current);
    checkObjectWrite(call, { next, current }, serving.lookup);
    call.warnings.push(...finalizerWarnings(next, current));
    const checked = checkedForm(call.route, next, current);
    return isVersioned(next) ? checked : withVersion(checked, current);
  };
  const options = atFrontDoor(call, serving, trackedWrite(call, asked, serving));
  const stored = await serving.store.modify(keyOfRoute(call.route), change, options);
  return objectAnswer(call, serving.shown(call.route.resource, stored), { clock: serving.clock });
}

type Patch =
  | Exclude<DecodedPatch, { type: 'apply-patch' }>
  | (Omit<DecodedPatch, 'type' | 'value'> & { type: 'strategic'; value: unknown });

const PATCHES: Readonly<Record<Patch['type'], (current: JsonObject, patch: unknown) => JsonObject>> = {
  'json-patch': applyJsonPatch,
  'merge-patch': applyMergePatch,
  strategic: applyStrategicPatch,
};

/** Only kinds that every client is compiled with have it; for custom ones it is an unknown format. */
function isStrategic({ headers, route }: Call): boolean {
  return headers['content-type']?.split(';')[0]?.trim() === STRATEGIC && route.resource.stored?.crd === undefined;
}

function strategic(bytes: Buffer): Patch {
  return { ...decodePatch('application/merge-patch+json', bytes), type: 'strategic' };
}

/** What came out must still be this object, and say nothing its schema does not know. */
function checkedPatch(call: Call, patched: JsonObject, asked: WriteAsked, patch: Patch): KindObject {
  const { resource, name = '' } = call.route;
  checkIsObject(patched, call);
  const { value, unknown } = pruned(resource, patched as unknown as KindObject);
  const isSilent = asked.fieldValidation === 'Ignore';
  const problems = isSilent ? [] : [...strangeIn(patch), ...unknownInOrder(resource, [...unknown].sort())];
  if (asked.fieldValidation === 'Strict' && problems.length > 0) throw badPatch(patched, `strict decoding error: ${problems.join(', ')}`);
  call.warnings.splice(0, call.warnings.length, ...problems);
  return withUniqueOwners(
    namedAs(inNamespace(withMetadata(withKind(value, resource)), call.route), name),
    call.warnings,
    ' after mutating admission happens',
  );
}

function strangeIn(patch: Patch): readonly string[] {
  return patch.type === 'json-patch' ? strangePatchFields(patch.value, patch.duplicates()) : patch.duplicates();
}

/** A kind that is left out is the one that was asked for. */
function withKind(object: KindObject, { kind }: Resource): KindObject {
  return object.kind ? object : { ...object, kind };
}

function withMetadata(object: KindObject): KindObject {
  const metadata = cutMetadata((object.metadata ?? {}) as unknown as JsonObject) as unknown as KindObject['metadata'];
  return metadata === object.metadata ? object : { ...object, metadata };
}

/** Kubernetes shows what the patch would have made. */
function badPatch(patched: JsonObject, problem: string) {
  const message = `Invalid value: ${JSON.stringify(goJson(patched))}: ${problem}`;
  return failure(422, ` "" is invalid: patch: ${message}`, {
    details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }] },
  });
}

function checkIsObject(patched: JsonObject, { route: { resource } }: Call): void {
  const problem = patched['kind']
    ? (metadataTypeProblem(patched['metadata'] ?? {}) ?? kindTypeProblem(patched))
    : resource.stored?.crd && `Object 'Kind' is missing in '${goJson(patched)}'`;
  if (problem) throw badPatch(patched, problem);
  if (patched['kind'] && patched['kind'] !== resource.kind) throw anotherKind(patched, resource);
}
