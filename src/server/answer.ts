/** Objects and lists in the form the client asked for. */
import type { KindObject } from '#api/meta.ts';
import type { Clock } from '#lib/clock.ts';
import { emitYaml } from '#lib/emit-yaml.ts';
import type { Answer, Call } from './call.ts';
import { listBody } from './list-body.ts';
import type { Page } from './page.ts';
import { flag, text } from './params.ts';
import { apiVersionOf } from './resources.ts';
import { tableFormatOf } from './shape/columns.ts';
import { coreTables } from './shape/core-tables.ts';
import { type Negotiated, negotiate } from './shape/negotiate.ts';
import { isAList, isNotAList, type ListMeta, partialListOf, partialOf } from './shape/partial.ts';
import { includeObjectOf, listMetaOf, tableOf } from './shape/table.ts';
import { notAcceptable } from './status.ts';
import { textOf } from './text.ts';

const FORMS = { canBeTable: true, canBePartial: true };
const STREAM_FORMS = { ...FORMS, isStream: true };

/** Refused before anything is done when no form would be acceptable. */
export function shapeOf(accept: string | undefined, isStream: boolean): Negotiated {
  const shape = negotiate(accept, isStream ? STREAM_FORMS : FORMS);
  if (shape) return shape;
  // A form that is ours, but has no stream.
  if (isStream && negotiate(accept, FORMS)) {
    throw notAcceptable('application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch');
  }
  throw notAcceptable();
}

export interface Saying {
  readonly clock: Clock;
  readonly status?: number;
}

export function objectAnswer(call: Call, object: KindObject, { clock, status = 200 }: Saying): Answer {
  const { shape } = call;
  if (shape.as === 'PartialObjectMetadataList') throw isNotAList(object.kind);
  const body =
    shape.as === 'object'
      ? textOf(object)
      : () => (shape.as === 'Table' ? shapeTable(call, [object], { now: clock.now() }) : partialOf(object, shape.version));
  return { status, ...formatted(call, body), ...(shape.as === 'object' && { object }) };
}

export function listAnswer(call: Call, page: Page, { clock, status = 200 }: Saying): Answer {
  const { shape, route } = call;
  const metadata: ListMeta = {
    ...(page.continue === undefined ? {} : { continue: page.continue }),
    resourceVersion: String(page.resourceVersion),
    ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
  };
  if (shape.as === 'Table') return { status, ...formatted(call, () => shapeTable(call, page.items, { now: clock.now(), metadata })) };
  if (shape.as === 'PartialObjectMetadata') throw isAList(route.resource.listKind);
  if (shape.as !== 'object') return { status, ...formatted(call, () => partialListOf(page.items, metadata, shape)) };
  const head = JSON.stringify({
    apiVersion: apiVersionOf(route.resource),
    kind: route.resource.listKind,
    // Custom resources say that a list does not go on; others say nothing.
    metadata: route.resource.stored?.crd ? { continue: '', ...metadata } : metadata,
  });
  const itemText = route.resource.stored?.crd ? textOf : untypedText;
  const texts = page.items.map((item) => itemText(item));
  return { status, ...formatted(call, listBody(`${head.slice(0, -1)},"items":[`, texts, ']}')) };
}

/** Kinds that are not custom are named once, by the list. */
function untypedText(object: KindObject): string {
  const typed = `{"apiVersion":"${object.apiVersion}","kind":"${object.kind}",`;
  const text = textOf(object);
  return text.startsWith(typed) ? `{${text.slice(typed.length)}` : JSON.stringify({ ...object, apiVersion: undefined, kind: undefined });
}

interface TableExtras {
  readonly now: Date;
  readonly metadata?: ListMeta;
  readonly withHeaders?: boolean;
}

export function shapeTable(
  { route, query, shape }: Call,
  objects: readonly KindObject[],
  { now, metadata, withHeaders = true }: TableExtras,
) {
  const format = coreTables.get(route.resource.kind) ?? tableFormatOf(route.resource.columns);
  const listMeta = metadata ?? listMetaOf(objects[0] as KindObject);
  const includeObject = includeObjectOf(text(query, 'includeObject'));
  return tableOf(format, objects, { listMeta, includeObject, now, version: shape.version, withHeaders });
}

/** Text that is there already goes out as it is unless the client wants it to be read by a person. */
function formatted({ shape, query }: Call, body: string | Buffer | (() => unknown)): Pick<Answer, 'body' | 'contentType'> {
  const isPretty = flag(query, 'pretty');
  if (shape.format === 'json' && !isPretty) return { body: typeof body === 'function' ? JSON.stringify(body()) : body };
  const value: unknown = typeof body === 'function' ? body() : JSON.parse(body.toString());
  return shape.format === 'yaml'
    ? { body: emitYaml(value), contentType: 'application/yaml' }
    : { body: `${JSON.stringify(value, null, 2)}\n` };
}
