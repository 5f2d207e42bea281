/** What has to be sent to make one object what a document says: decided here, sent here, so that it can be tried before it is done. */

import { equalJson, isObject, type JsonObject } from '#lib/json.ts';
import type { ApiObject } from '../resource-api.ts';
import { lastAppliedOf, withLastApplied, withoutLastApplied } from './last-applied.ts';
import { threeWayMergePatch } from './merge-patch.ts';
import { createObject, type FieldValidation, patchObject, type Writer } from './requests.ts';
import type { Target } from './target.ts';

export type ApplyStep =
  | { readonly action: 'create'; readonly body: JsonObject }
  | { readonly action: 'patch'; readonly patch: JsonObject; readonly live: ApiObject }
  | { readonly action: 'none'; readonly live: ApiObject }
  | { readonly action: 'serverSide'; readonly body: JsonObject };

export type Outcome = 'created' | 'configured' | 'unchanged' | 'serverside-applied';

export interface StepOptions {
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  readonly isForced: boolean;
  readonly isDryRun: boolean;
  /** See WriteOptions. */
  readonly isPartOfSet?: boolean;
}

/** The document as it is sent: in its namespace, and without a status, which is not the writer's to say. */
export function configOf(object: JsonObject, { resource, namespace }: Target): JsonObject {
  const { status, ...rest } = object;
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const isStatusOwn = status === undefined || resource.subresources.includes('status');
  return {
    ...(isStatusOwn ? rest : object),
    metadata: namespace === undefined ? metadata : { ...metadata, namespace },
  };
}

/** `isNoted`: with the note of what is applied, for the next time. */
export function clientSideStep(config: JsonObject, live: ApiObject | undefined, isNoted = true): ApplyStep {
  const modified = isNoted ? withLastApplied(config) : withoutLastApplied(config);
  if (!live) return { action: 'create', body: modified };
  const patch = threeWayMergePatch({ original: lastAppliedOf(live), modified, live });
  return Object.keys(patch).length === 0 ? { action: 'none', live } : { action: 'patch', patch, live };
}

/** What the server has, or would have, afterwards. */
export async function sendStep(writer: Writer, target: Target, step: ApplyStep, options: StepOptions): Promise<ApiObject> {
  const { isForced, ...write } = options;
  switch (step.action) {
    case 'none':
      return step.live;
    case 'create':
      return createObject(writer, target, step.body, write);
    case 'patch':
      return patchObject(writer, target, { type: 'merge', body: step.patch, ...write });
    case 'serverSide':
      return patchObject(writer, target, { type: 'apply', body: step.body, ...write, isForced });
  }
}

/** `after` is what the server has, or would have: when that is what it had, nothing changed, whatever was sent. */
export function outcomeOf(step: ApplyStep, after?: ApiObject): Outcome {
  switch (step.action) {
    case 'none':
      return 'unchanged';
    case 'create':
      return 'created';
    case 'patch':
      return after && equalJson(withoutRecords(after), withoutRecords(step.live)) ? 'unchanged' : 'configured';
    case 'serverSide':
      return 'serverside-applied';
  }
}

/** What was recorded about the write is not what was written. */
export function withoutRecords({ metadata: { managedFields: _, resourceVersion: __, ...metadata }, ...rest }: ApiObject): JsonObject {
  return { ...rest, metadata };
}

/** What a client-side trial shows, without having asked the server. */
export function expectedObject(step: ApplyStep, merge: (target: unknown, patch: unknown) => unknown): JsonObject {
  if (step.action === 'patch') return merge(step.live, step.patch) as JsonObject;
  return step.action === 'none' ? step.live : step.body;
}
