/** `agentiso get`: objects as a table, or in the format of -o. */
import { send } from '#client/resource-api.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { parseOutput } from '../print/output.ts';
import type { Selection } from '../read/fetch.ts';
import { getObjects } from '../read/get-objects.ts';
import { getTables } from '../read/get-tables.ts';
import { resolveArguments, type Wanted } from '../resolve.ts';
import { UsageError } from '../usage-error.ts';

export const getCommand = apiCommand({
  name: 'get',
  args: '[type] [names...]',
  summary: 'show objects: TYPE, TYPE NAME, TYPE/NAME, TYPE,TYPE',
  description:
    'Shows objects as a table, or as -o says. TYPE is a kind, plural or short name (agentiso api-resources lists them), or a category such as all.',
  options: [
    {
      flags: '-o, --output <format>',
      description: 'wide, yaml, json, name, jsonpath=..., custom-columns=..., or one of the two from a -file=',
    },
    { flags: '-l, --selector <labels>', description: 'only objects with these labels: a=b, a!=b, a in (b,c), a, !a' },
    { flags: '--field-selector <fields>', description: 'only objects with these fields: status.phase=Running' },
    { flags: '-A, --all-namespaces', description: 'of all namespaces' },
    { flags: '-w, --watch', description: 'then show every change' },
    { flags: '--watch-only', description: 'show changes only' },
    { flags: '--output-watch-events', description: 'say of each change what it was' },
    { flags: '--sort-by <path>', description: 'in the order of a field: .metadata.creationTimestamp' },
    { flags: '--show-labels', description: 'with a column of labels' },
    { flags: '-L, --label-columns <keys>', description: 'with a column for each of these labels', isRepeatable: true },
    { flags: '--show-kind', description: 'with the kind before each name' },
    { flags: '--show-managed-fields', description: 'with managedFields in yaml and json' },
    { flags: '--no-headers', description: 'without the line of headers' },
    { flags: '--ignore-not-found', description: 'what does not exist is no failure' },
    { flags: '--chunk-size <count>', description: 'objects per request; 0 for all at once', default: '500' },
    { flags: '--raw <path>', description: 'the answer of the server to this path, as it is' },
  ],
  async run(args, options, session) {
    const raw = text(options['raw']);
    if (raw !== undefined) return printRaw(raw, args, session);
    if (args.length === 0) throw new UsageError('Required resource not specified.', { hint: 'agentiso api-resources lists what there is' });
    const output = parseOutput(text(options['output']));
    const selection = selectionOf(options);
    const wanted = resolveArguments(await session.discovery(), args);
    checkRequest(wanted, selection, options);
    const request = { wanted, selection, options };
    if (output.kind === 'table') {
      return getTables(session, { ...request, isWide: output.isWide });
    }
    return getObjects(session, { ...request, output });
  },
});

function selectionOf(options: OptionValues): Selection {
  const pageSize = Number(options['chunkSize']);
  if (!Number.isInteger(pageSize) || pageSize < 0)
    throw new UsageError(`option '--chunk-size <count>' argument '${options['chunkSize']}' is invalid. Give a number.`);
  return {
    isAllNamespaces: options['allNamespaces'] === true,
    labelSelector: text(options['selector']),
    fieldSelector: text(options['fieldSelector']),
    pageSize,
  };
}

function checkRequest(
  wanted: readonly Wanted[],
  { isAllNamespaces, labelSelector, fieldSelector }: Selection,
  options: OptionValues,
): void {
  const isNamed = wanted.some(({ name }) => name !== undefined);
  const isWatching = options['watch'] === true || options['watchOnly'] === true;
  if (isNamed && isAllNamespaces) throw new UsageError('a resource cannot be retrieved by name across all namespaces');
  if (isNamed && labelSelector !== undefined) throw new UsageError('name cannot be provided when a selector is specified');
  if (isNamed && fieldSelector !== undefined)
    throw new UsageError('field selectors may not be specified when retrieving a resource by name');
  if (isWatching && wanted.length > 1) throw new UsageError('you may only specify a single resource type');
}

async function printRaw(path: string, args: readonly string[], { connection, out, signal }: Session): Promise<number> {
  if (args.length > 0) throw new UsageError('arguments may not be passed when --raw is specified');
  const response = await send(connection, { method: 'GET', path: path.startsWith('/') ? path : `/${path}`, signal });
  out(await response.text());
  return EXIT.ok;
}
