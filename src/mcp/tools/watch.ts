/** watch: the next changes of objects. */
import type { ApiResource } from '#client/discovery.ts';
import { getJson, resourcePath } from '#client/resource-api.ts';
import { AgentisoError, isCode, messageOf } from '#lib/errors.ts';
import { described, flag, list, object, oneOf, type Parsed, text } from '#protocol/shape.ts';
import { objectSummary } from '../objects/answers.ts';
import { collectChanges } from '../objects/collect-changes.ts';
import { kindField, namespaceField, objectName, plainText, teamField, waitDeadlineMs, waitSeconds } from '../objects/fields.ts';
import { findKind } from '../objects/find-kind.ts';
import { summaryOf } from '../objects/plain-object.ts';
import { locationOf } from '../objects/selection.ts';
import { defineTool, type ToolCall } from '../tool.ts';

const USUAL_SECONDS = 30;
const MOST_EVENTS = 100;

const input = object(
  { kind: kindField },
  {
    namespace: described(namespaceField, 'Only of this namespace; of all when absent.'),
    team: described(teamField, 'Only what belongs to this team.'),
    name: described(objectName, 'Only this object.'),
    since_version: described(plainText(20), 'The version of the answer before, of list or of get; absent: changes from now on.'),
    timeout_seconds: waitSeconds(USUAL_SECONDS),
  },
);
type Asked = Parsed<typeof input>;

const output = object({
  events: list(object({ type: oneOf('ADDED', 'MODIFIED', 'DELETED'), object: objectSummary })),
  version: described(text, 'Give it as since_version in the next call: then no change is missed.'),
  timed_out: flag,
});

export const watch = defineTool({
  name: 'watch',
  title: 'Wait for changes',
  description:
    'Waits for the next changes of objects of one kind and answers as soon as there are some, each with phase and conditions. Pass version back as since_version to go on without a gap. With timed_out nothing has changed: call again. Use wait_for when you wait for one object to be in a certain state.',
  input,
  output,
  category: 'default',
  isReadOnly: true,
  quotesOthers: true,
  deadlineMs: ({ timeout_seconds = USUAL_SECONDS }) => waitDeadlineMs(timeout_seconds),
  resource: ({ kind, name }) => (name === undefined ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`),
  async run(asked, call) {
    const resource = findKind(asked.kind, 'watch');
    const since = asked.since_version ?? (await currentVersion(call, resource, asked));
    const { query, ...location } = locationOf(resource, asked);
    const path = resourcePath(resource, {
      ...location,
      query: { ...query, watch: true, allowWatchBookmarks: true, resourceVersion: since },
    });
    const timeoutMs = (asked.timeout_seconds ?? USUAL_SECONDS) * 1_000;
    call.progress(`waiting for changes of ${resource.plural}`);
    const { events, version = since } = await collectChanges(call.connection, {
      path,
      timeoutMs,
      signal: call.signal,
      most: MOST_EVENTS,
    }).catch(tooOld);
    const told = events.flatMap(({ type, object: changed }) => (type === 'BOOKMARK' ? [] : [{ type, object: summaryOf(changed) }]));
    return { events: told, version, timed_out: told.length === 0 };
  },
});

async function currentVersion({ connection, signal }: ToolCall, resource: ApiResource, asked: Asked): Promise<string> {
  const { query, ...location } = locationOf(resource, asked);
  const path = resourcePath(resource, { ...location, query: { ...query, limit: 1 } });
  const { metadata } = await getJson(connection, path, { signal });
  return metadata.resourceVersion ?? '';
}

function tooOld(error: unknown): never {
  if (!isCode(error, 'Expired')) throw error;
  const hint = 'list shows what is there now; give its version as since_version';
  throw new AgentisoError('Expired', messageOf(error), { hint, cause: error });
}
