/** watch: a stream of events of one resource. */
import type { ServerResponse } from 'node:http';
import type { KindObject } from '#api/meta.ts';
import { shapeTable } from '../answer.ts';
import type { Call, Serving } from '../call.ts';
import { chunkedSink } from '../chunked-sink.ts';
import { checkWatchOptions, type ListOptions, watchOptions } from '../list-options.ts';
import { tooLarge } from '../page.ts';
import { apiVersionOf, type Resource } from '../resources.ts';
import { partialOf } from '../shape/partial.ts';
import { includeObjectOf } from '../shape/table.ts';
import type { Source } from '../source.ts';
import { failure } from '../status.ts';
import { textOf } from '../text.ts';
import { type WatchEncoder, WatchStream } from '../watch-stream.ts';
import { visibility } from './read.ts';

/** Without a wish of the client: half an hour to an hour, so that not all come back at once. */
const MIN_WATCH_SECONDS = 1_800;

/** Resolves at once; the stream lives until the client, the time or the server ends it. */
export function watchObjects(call: Call, serving: Serving, response: ServerResponse): WatchStream {
  const options = watchOptions(call.route, call.query);
  checkWatchOptions(options);
  const source = serving.sourceOf(call.route.resource);
  checkBeforeHeaders(call, source, options);
  const seconds = options.timeoutSeconds || MIN_WATCH_SECONDS * (1 + Math.random());
  const isVisible = visibility(call, serving);
  response.writeHead(200, { 'Content-Type': 'application/json' });
  // Clients wait for the headers before anything else, also before their own time limit counts.
  response.flushHeaders();
  const stream = new WatchStream({
    source,
    sink: chunkedSink(response),
    encoder: encoderOf(call, serving),
    options,
    ...(isVisible ? { isVisible } : {}),
    timeoutMs: Math.min(seconds * 1_000, 2 ** 31 - 1),
  });
  const refusal = futureRefused(options, source.resourceVersion());
  if (refusal) stream.fail(refusal.status);
  else stream.start();
  return stream;
}

/** Whoever waits for a version to come may ask again; whoever saw one that never was has to list: it is from another store. */
function futureRefused({ resourceVersion = '0', sendInitialEvents }: ListOptions, current: number) {
  const asked = Number(resourceVersion);
  if (asked <= current) return undefined;
  return sendInitialEvents === undefined
    ? failure(410, `too large resource version: ${resourceVersion} (${current})`)
    : tooLarge(asked, current);
}

/** Once the stream has begun there is no status code to say it with. */
function checkBeforeHeaders({ shape, query }: Call, source: Source, options: ListOptions): void {
  if (shape.as === 'Table') includeObjectOf(query.get('includeObject'));
  const unsubscribe = source.watch({ ...options, resourceVersion: String(source.resourceVersion()) }, () => {});
  unsubscribe();
}

/** The line of the last event: all watchers of a kind get the same one, one after the other. */
let last: { type: string; object: KindObject; line: Buffer } | undefined;

function plainLine(type: string, object: KindObject): Buffer {
  if (last?.object === object && last.type === type) return last.line;
  const line = Buffer.from(`{"type":"${type}","object":${textOf(object)}}\n`);
  last = { type, object, line };
  return line;
}

function encoderOf(call: Call, serving: Serving): WatchEncoder {
  const shown = shownForm(call, serving);
  return {
    event: (type, object) => (shown ? `${JSON.stringify({ type, object: shown(object) })}\n` : plainLine(type, object)),
    bookmark(resourceVersion, isInitialEnd) {
      const object = bookmarkOf(call.route.resource, resourceVersion, isInitialEnd);
      return `${JSON.stringify({ type: 'BOOKMARK', object: shown ? shown(object) : object })}\n`;
    },
    error: (status) => `${JSON.stringify({ type: 'ERROR', object: status })}\n`,
  };
}

/** Undefined: objects as they are. */
function shownForm(call: Call, { clock }: Serving): ((object: KindObject) => unknown) | undefined {
  const { shape } = call;
  if (shape.as === 'object') return undefined;
  if (shape.as !== 'Table') return (object) => partialOf(object, shape.version);
  let isFirst = true;
  return (object) => {
    const table = shapeTable(call, [object], { now: clock.now(), withHeaders: isFirst });
    isFirst = false;
    return table;
  };
}

function bookmarkOf(resource: Resource, resourceVersion: number, isInitialEnd: boolean): KindObject {
  const annotations = isInitialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  return {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: { resourceVersion: String(resourceVersion), ...annotations },
  } as unknown as KindObject;
}
