/** Does what the plan says, and remembers what came of it. A part that fails stops no other. */
import { type Draft, type KindObject, keyOf } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import { isCode, messageOf } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { type Applied, caseOf } from './applied.ts';
import type { Declaration } from './directory-reader.ts';
import type { Plan, Prune, Release } from './plan.ts';
import type { EventRecorder, Problem } from './problem.ts';

export interface CarryOutOptions {
  readonly client: Client;
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly live: ReadonlyMap<string, KindObject>;
  /** Changed: what was applied, or why not. */
  readonly applied: Map<string, Applied>;
}

/** Writes that wait together are made durable together. */
const AT_ONCE = 32;
/** What a person must change is looked at again at the relist; what the store could not do may pass soon. */
const RETRY_INVALID_MS = 30_000;
const RETRY_MS = 2_000;

/** Resolves with what went wrong apart from applying, which is remembered with the declaration. */
export async function carryOut(plan: Plan, options: CarryOutOptions): Promise<Problem[]> {
  const { applied } = options;
  for (const id of applied.keys()) if (!plan.declared.has(id)) applied.delete(id);
  await inParts(plan.apply, (declaration) => apply(declaration, options));
  await inParts(plan.release, (release) => giveUp(release, options));
  const problems: Problem[] = [];
  await inParts(plan.prune, async (prune) => {
    const problem = await remove(prune, options);
    if (problem) problems.push(problem);
  });
  return problems;
}

async function inParts<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) await Promise.all(items.slice(at, at + AT_ONCE).map(work));
}

/**
 * Forced: what is checked in is what shall be, whoever changed it since; without force one hand edit would stop a manifest from ever
 * being applied again. Fields that the manifest does not name stay with those who set them.
 */
async function apply({ id, config, fieldManager, file, line, key, explain }: Declaration, options: CarryOutOptions): Promise<void> {
  const { client, log, live, applied, nowMs } = options;
  const before = live.get(id);
  try {
    const object = await client.apply<KindObject>(config as Draft, { fieldManager, force: true });
    applied.set(id, { config, fieldManager, file, atMs: nowMs(), object });
    if (object.metadata.resourceVersion !== before?.metadata.resourceVersion) log.info({ key, file }, 'manifest applied');
  } catch (error) {
    const isInvalid = isCode(error, 'Invalid');
    const message = `${file}:${line}: ${explain(error)}`;
    const problem: Problem = { reason: isInvalid ? 'InvalidManifest' : 'ApplyFailed', message, about: key };
    const failure = { problem, against: caseOf(before), retryMs: isInvalid ? RETRY_INVALID_MS : RETRY_MS };
    applied.set(id, { config, fieldManager, file, atMs: nowMs(), failure });
  }
}

/** Applying nothing but the name removes what only this directory had set, and its record. */
async function giveUp({ object, fieldManager }: Release, { client, log }: CarryOutOptions): Promise<void> {
  const { apiVersion, kind, metadata } = object;
  try {
    const config = { apiVersion, kind, metadata: { name: metadata.name, namespace: metadata.namespace } };
    await client.apply<KindObject>(config, { fieldManager, force: true });
    log.info({ key: keyOf(object), fieldManager }, 'object taken over by another manifest directory');
  } catch (error) {
    log.warn({ err: error, key: keyOf(object), fieldManager }, 'object not given up, tried again at the next look');
  }
}

async function remove({ object, path }: Prune, { client, log, events }: CarryOutOptions): Promise<Problem | undefined> {
  const key = keyOf(object);
  try {
    await client.delete(key, { preconditions: { uid: object.metadata.uid } });
    log.info({ key, path }, 'object pruned');
    events.normal(object, 'Pruned', `no manifest in ${path} declares it any more`);
    return undefined;
  } catch (error) {
    // Gone, or another one of the same name: the next look sees which.
    if (isCode(error, 'NotFound') || isCode(error, 'Conflict')) return undefined;
    return { reason: 'PruneFailed', message: `no manifest in ${path} declares it any more, but: ${messageOf(error)}`, about: key };
  }
}
