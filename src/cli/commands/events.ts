/** `agentiso events`: what happened, oldest first. */
import { EVENTS, type EventObject, sortEvents } from '#client/events.ts';
import { listObjects, type ResourceLocation } from '#client/resource-api.ts';
import { toCell } from '#lib/escape.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { alignLines, TABLE_STYLE } from '../print/align.ts';
import { paintCell } from '../print/colour.ts';
import { lastSeen } from '../print/events.ts';
import { objectPrinter, parseOutput } from '../print/output.ts';
import { followChanges } from '../read/watch.ts';
import { resolveArguments } from '../resolve.ts';
import { UsageError } from '../usage-error.ts';

export const eventsCommand = apiCommand({
  name: 'events',
  summary: 'show what happened',
  options: [
    { flags: '--for <object>', description: 'only of this object: TYPE/NAME' },
    { flags: '--types <types>', description: 'only of these types: Normal, Warning' },
    { flags: '-A, --all-namespaces', description: 'of all namespaces' },
    { flags: '-w, --watch', description: 'then show every new one' },
    { flags: '-o, --output <format>', description: 'yaml, json, name, jsonpath=... or custom-columns=...' },
    { flags: '--no-headers', description: 'without the line of headers' },
  ],
  async run(_args, options, session) {
    const isAllNamespaces = options['allNamespaces'] === true;
    const namespace = isAllNamespaces ? undefined : session.namespace;
    const fieldSelector = await selectorOf(options, session);
    const print = printerOf(options, session);
    const location: ResourceLocation = { namespace, query: { fieldSelector } };
    const { items, resourceVersion } = await listObjects(session.connection, { resource: EVENTS, location, signal: session.signal });
    const isShown = typeFilter(text(options['types']));
    const events = sortEvents((items as readonly EventObject[]).filter(isShown));
    const isWatching = options['watch'] === true;
    if (events.length > 0) session.out(print(events, isWatching ? 'each' : 'list'));
    else if (!isWatching) session.err(isAllNamespaces ? 'No events found.\n' : `No events found in ${namespace} namespace.\n`);
    if (!isWatching) return EXIT.ok;
    const wanted = { resource: { ...EVENTS, kind: 'Event', singular: 'event', ...NO_NAMES } };
    return followChanges<EventObject>(
      session,
      { wanted, selection: { isAllNamespaces, fieldSelector }, resourceVersion },
      ({ type, object }) => {
        if (type !== 'DELETED' && isShown(object)) session.out(print([object], 'each'));
      },
    );
  },
});

const NO_NAMES = { shortNames: [], categories: [], verbs: [], subresources: [], isPreferred: true };

async function selectorOf(options: OptionValues, session: Session): Promise<string | undefined> {
  const about = text(options['for']);
  if (about === undefined) return undefined;
  const [wanted] = about.includes('/') ? resolveArguments(await session.discovery(), [about]) : [];
  if (!wanted) throw new UsageError('--for must be in resource/name form');
  return `involvedObject.kind=${wanted.resource.kind},involvedObject.name=${wanted.name}`;
}

function typeFilter(types: string | undefined): (event: EventObject) => boolean {
  const wanted = types?.split(',').map((type) => type.trim().toLowerCase());
  const unknown = wanted?.find((type) => type !== 'normal' && type !== 'warning');
  if (unknown !== undefined) throw new UsageError(`valid --types are Normal or Warning; not ${unknown}`);
  return ({ type }) => wanted === undefined || wanted.includes((type ?? '').toLowerCase());
}

type Print = (events: readonly EventObject[], as: 'list' | 'each') => string;

function printerOf(options: OptionValues, { environment }: Session): Print {
  const output = parseOutput(text(options['output']));
  if (output.kind === 'objects') {
    const print = objectPrinter(output, { typeName: () => 'event', withHeaders: options['headers'] !== false });
    return (objects, as) =>
      as === 'list' ? print({ objects, isList: true }) : objects.map((each) => print({ objects: [each], isList: false })).join('');
  }
  const withNamespace = options['allNamespaces'] === true;
  const headers = [...(withNamespace ? ['NAMESPACE'] : []), 'LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'];
  const remembered: number[] = [];
  let isFirst = options['headers'] !== false;
  return (events) => {
    const now = new Date();
    const rows = events.map((event) => [...(withNamespace ? [event.metadata.namespace] : []), ...cellsOf(event, now)].map(toCell));
    const lines = isFirst ? [headers, ...rows] : rows;
    isFirst = false;
    const paint = (cell: string, column: number) => (headers[column] === 'TYPE' ? paintCell(cell, 'type') : cell);
    return alignLines(lines, { ...TABLE_STYLE, remembered, ...(environment?.hasColour ? { paint } : {}) });
  };
}

function cellsOf(event: EventObject, now: Date): unknown[] {
  const { kind, name } = event.involvedObject ?? {};
  return [lastSeen(event, now), event.type, event.reason, `${kind}/${name}`, event.message?.trim()];
}
