/**
 * One pass over one key: everything a controller would otherwise repeat.
 * Fetch, finalizer before any side effect, run on a copy, report what was thrown, write status once and only if it changed.
 */
import { type KindObject, keyOf } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import { AgentisoError, ignoreNotFound, isCode, StalledError, WaitingError } from '#lib/errors.ts';
import { copyJson, equalJson } from '#lib/json.ts';
import type { Controller, Key, ReconcileContext, Result, WithStatus } from './controller.ts';
import { reportFailure } from './failure.ts';

/** `written`: the versions this pass made, so that their echo in the watch can be told from other people's changes. */
export interface Outcome {
  readonly result: 'success' | 'waiting' | 'stalled' | 'conflict' | 'error';
  readonly requeueAfterMs?: number;
  readonly leavesNothing?: boolean;
  readonly error?: unknown;
  readonly written: readonly string[];
}

/** Somebody else wrote in between; by now the new version is there to be read. */
const CONFLICT_RETRY_MS = 5;

/** A pass as a plain call. Throws what calls for back-off; what a person must mend is on the object and gives `{}`. */
export async function reconcileKey(controller: Controller, key: Key, client: Client, ctx: ReconcileContext): Promise<Result> {
  const { result, requeueAfterMs, error } = await runPass(controller, key, client, ctx);
  if (result === 'error') throw error;
  if (result === 'conflict') return { requeueAfterMs: CONFLICT_RETRY_MS };
  return requeueAfterMs === undefined ? {} : { requeueAfterMs };
}

/** Never throws. What the controller throws is settled inside; what arrives at the catch comes from the runtime's own reads and writes. */
export async function runPass(controller: Controller, key: Key, client: Client, ctx: ReconcileContext): Promise<Outcome> {
  const written: string[] = [];
  try {
    const object = await ignoreNotFound(client.get<KindObject>(key));
    if (!object) return { result: 'success', written };
    const deleting = object.metadata.deletionTimestamp !== undefined;
    if (deleting && !hasFinalizer(controller, object)) return { result: 'success', written };
    const held = deleting ? object : await ensureFinalizer(controller, object, client, written);
    return await runController({ controller, object: held, client, ctx, written });
  } catch (error) {
    if (isCode(error, 'NotFound')) return { result: 'success', written };
    return { result: isCode(error, 'Conflict') ? 'conflict' : 'error', error, written };
  }
}

interface Pass {
  readonly controller: Controller;
  readonly object: KindObject;
  readonly client: Client;
  readonly ctx: ReconcileContext;
  readonly written: string[];
}

async function runController(pass: Pass): Promise<Outcome> {
  const { controller, object, ctx, written } = pass;
  const copy = withStatus(object);
  let result: Result | 'done';
  try {
    result = await callController(controller, copy, ctx);
    refuseChangedIntent(object, copy);
  } catch (error) {
    reportFailure({ controller, object, copy, error, ctx });
    await writeFailure(pass, copy, error);
    return { ...outcomeOf(error), written };
  }
  const stored = await writeStatus(pass, copy);
  if (result === 'done') await dropFinalizer(pass, stored);
  return result === 'done' ? { result: 'success', written } : { ...result, result: 'success', written };
}

async function callController(controller: Controller, copy: WithStatus<KindObject>, ctx: ReconcileContext): Promise<Result | 'done'> {
  if (copy.metadata.deletionTimestamp === undefined) return controller.reconcile(copy, ctx);
  return controller.finalize ? controller.finalize(copy, ctx) : 'done';
}

async function ensureFinalizer(controller: Controller, object: KindObject, client: Client, written: string[]): Promise<KindObject> {
  if (controller.finalizer === undefined || hasFinalizer(controller, object)) return object;
  const finalizers = [...(object.metadata.finalizers ?? []), controller.finalizer];
  const stored = await client.update({ ...object, metadata: { ...object.metadata, finalizers } });
  written.push(stored.metadata.resourceVersion);
  return stored;
}

async function dropFinalizer({ controller, client, written }: Pass, object: KindObject): Promise<void> {
  const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== controller.finalizer);
  const stored = await client.update({ ...object, metadata: { ...object.metadata, finalizers } });
  written.push(stored.metadata.resourceVersion);
}

async function writeStatus({ object, client, written }: Pass, { status }: KindObject): Promise<KindObject> {
  if (equalJson(object.status ?? {}, status ?? {})) return object;
  const stored = await client.updateStatus({ ...object, status });
  written.push(stored.metadata.resourceVersion);
  return stored;
}

/** A failed write must not hide why the pass failed, which brings the next try anyway. Only a stalled pass has no next try. */
async function writeFailure(pass: Pass, copy: KindObject, failure: unknown): Promise<void> {
  try {
    await writeStatus(pass, copy);
  } catch (error) {
    if (failure instanceof StalledError) throw error;
    pass.ctx.log.debug({ err: error }, 'status not written');
  }
}

function outcomeOf(error: unknown): Omit<Outcome, 'written'> {
  if (error instanceof StalledError) return { result: 'stalled', error };
  if (error instanceof WaitingError) return { result: 'waiting', error, requeueAfterMs: error.afterMs };
  return { result: 'error', error };
}

/** Store objects are frozen, and a status to write into saves every controller the same line. */
function withStatus(object: KindObject): WithStatus<KindObject> {
  const copy = copyJson(object);
  return { ...copy, status: copy.status ?? {} };
}

function hasFinalizer({ finalizer }: Controller, { metadata }: KindObject): boolean {
  return finalizer !== undefined && (metadata.finalizers ?? []).includes(finalizer);
}

function refuseChangedIntent(object: KindObject, copy: KindObject): void {
  const { status: _before, ...intent } = object;
  const { status: _after, ...copied } = copy;
  if (equalJson(intent, copied)) return;
  const { kind, namespace, name } = keyOf(object);
  throw new AgentisoError('Internal', `programmer error: the controller changed more than the status of ${kind} ${namespace}/${name}`, {
    reason: 'ProgrammerError',
  });
}
