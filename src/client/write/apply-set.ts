/**
 * A set of documents on its way to the server. All of it is planned, and tried, before any of it is written: a set with a mistake in it
 * changes nothing.
 */

import { isCode, messageOf } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';
import type { ApiObject } from '../resource-api.ts';
import { isNotFound, StatusError } from '../status-error.ts';
import { type ApplyStep, clientSideStep, configOf, outcomeOf, type StepOptions, sendStep } from './apply-step.ts';
import { ourProblems } from './check-documents.ts';
import { inParallel } from './in-parallel.ts';
import { handOver } from './owners.ts';
import type { Place } from './place.ts';
import type { SourceDocument } from './source-document.ts';
import { getTarget, ofDocument, type Target } from './target.ts';

export interface ApplyItem {
  readonly document: SourceDocument;
  readonly target: Target;
  readonly config: JsonObject;
}

export interface ApplyOptions extends StepOptions {
  readonly isServerSide: boolean;
  /** Leaves the note for the next apply out: a comparison should not show it. */
  readonly isUnnoted?: boolean;
}

export interface Applied {
  readonly item: ApplyItem;
  readonly step: ApplyStep;
  readonly outcome: string;
  readonly object: ApiObject;
}

const TRIES = 5;

/** Documents of kinds that the server has not are told all together. */
export async function toItems(documents: readonly SourceDocument[], place: Place): Promise<{ items: ApplyItem[]; unknown: string[] }> {
  const scope = { discovery: await place.discovery(), namespace: place.namespace };
  const items: ApplyItem[] = [];
  const unknown: string[] = [];
  for (const document of documents) {
    try {
      const target = ofDocument(document, scope);
      items.push({ document, target, config: configOf(document.object, target) });
    } catch (error) {
      if (!isCode(error, 'NotFound')) throw error;
      const better = place.isDaemon ? await ourProblems([document], place.namespace) : [];
      unknown.push(...(better.length > 0 ? better : [messageOf(error)]));
    }
  }
  return { items, unknown };
}

export async function planStep(place: Place, { target, config }: ApplyItem, options: ApplyOptions): Promise<ApplyStep> {
  if (options.isServerSide) return { action: 'serverSide', body: config };
  const live = await getTarget(place.connection, target).catch(undefinedIfNotFound);
  return clientSideStep(config, live, options.isUnnoted !== true);
}

export interface Trial {
  /** False: something may yet be wrong that the server could not get to. */
  readonly isAccepted: boolean;
  readonly problems: readonly string[];
  /** What came of each, in their order. */
  readonly tried: readonly Tried[];
}

/** `object`: as the server would have it; absent where it could not say, then `error` says why. `live`: as it is, where that was asked for. */
export interface Tried {
  readonly item: ApplyItem;
  readonly object?: ApiObject;
  readonly live?: ApiObject;
  readonly error?: unknown;
}

/** Everything the server would refuse whatever happens meanwhile, with the place of each mistake. Nothing is stored. */
export async function tryItems(place: Place, items: readonly ApplyItem[], options: ApplyOptions): Promise<Trial> {
  const silent = { connection: place.connection, err: () => {} };
  const answers = await inParallel(items, async (item): Promise<Tried & { refused?: string[] }> => {
    // Nothing will be written any more.
    if (place.signal.aborted) return { item };
    try {
      const step = await planStep(place, item, options);
      const object = await sendStep(silent, item.target, step, { ...options, isDryRun: true });
      return { item, object, ...('live' in step ? { live: step.live } : {}) };
    } catch (error) {
      if (place.signal.aborted) return { item };
      return { item, error, refused: refusals(error, item) };
    }
  });
  return {
    isAccepted: answers.every(({ refused }) => refused === undefined),
    problems: answers.flatMap(({ refused }) => refused ?? []),
    tried: answers,
  };
}

/** What no other document can make right, as a namespace could be that an earlier one creates; with the place of each mistake. */
export function refusals(error: unknown, { document }: Pick<ApplyItem, 'document'>): string[] {
  if (!(error instanceof StatusError)) throw error;
  const { reason, code, details } = error.status;
  if (reason !== 'Invalid' && reason !== 'BadRequest' && !(code === 500 && !reason)) return [];
  // A cause without a field only says that there may be more once the others are gone.
  const causes = (details?.causes ?? []).filter(({ field }) => field !== '<nil>');
  if (causes.length === 0) return [`${document.at(['metadata', 'name'])}: ${error.message}`];
  return causes.map(({ field = '', message = '' }) => `${document.at(segmentsOf(field))}: ${field}: ${message}`);
}

/** `spec.roles[0].count` */
export function segmentsOf(field: string): (string | number)[] {
  return [...field.matchAll(/\[(\d+)\]|\[([^\]]*)\]|([^.[\]]+)/g)].map(([, index, key, word]) =>
    index === undefined ? (key ?? word ?? '') : Number(index),
  );
}

/** Writes one of them; somebody else's create or delete in between makes it look again. */
export async function applyItem(place: Place, item: ApplyItem, options: ApplyOptions): Promise<Applied> {
  for (let attempt = 1; ; attempt++) {
    const step = await planStep(place, item, options);
    try {
      const object = await sendOwned(place, item.target, step, options);
      return { item, step, object, outcome: outcomeOf(step, object) };
    } catch (error) {
      const isRaced = step.action !== 'serverSide' && RACES.some((code) => isCode(error, code));
      if (!isRaced || attempt === TRIES || isMissingNamespace(error, item)) throw error;
    }
  }
}

/** A server-side apply takes over what client-side ones have set before. */
async function sendOwned(place: Place, target: Target, step: ApplyStep, options: ApplyOptions): Promise<ApiObject> {
  const applied = await sendStep(place, target, step, options);
  if (step.action !== 'serverSide' || options.isDryRun) return applied;
  try {
    if (!(await handOver(place, { target, applied, options: { fieldManager: options.fieldManager } }))) return applied;
  } catch (error) {
    // The object is as it should be; only who owns it is not.
    place.err(
      `Warning: server rejected managed fields migration to Server-Side Apply. This is non-fatal and will be retried next time you apply. Error: ${messageOf(error)}\n`,
    );
    return applied;
  }
  return sendStep(place, target, step, options);
}

const RACES = ['AlreadyExists', 'NotFound', 'Conflict'] as const;

function isMissingNamespace(error: unknown, { target }: ApplyItem): boolean {
  return isNotFound(error) && error instanceof StatusError && error.status.details?.kind !== target.resource.plural;
}

function undefinedIfNotFound(error: unknown): undefined {
  if (isNotFound(error)) return undefined;
  throw error;
}
