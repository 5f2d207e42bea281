/** `get` for people: the server's Tables, one after the other. */
import { qualifiedSingular } from '#client/discovery.ts';
import { TABLE_ACCEPT, type Table, type TableColumn } from '#client/table.ts';
import type { Session } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { type TableView, tablePrinter } from '../print/table.ts';
import type { Wanted } from '../resolve.ts';
import { settle, tellFailures } from './failures.ts';
import { type FetchedTable, fetchTable, nothingFound, type Selection, tableOf } from './fetch.ts';
import { sortBy } from './sorting.ts';
import { followChanges } from './watch.ts';

export interface TableRequest {
  readonly wanted: readonly Wanted[];
  readonly selection: Selection;
  readonly options: OptionValues;
  readonly isWide: boolean;
}

export async function getTables(session: Session, request: TableRequest): Promise<number> {
  const { wanted, selection, options } = request;
  const [first] = wanted;
  if (first && (options['watch'] === true || options['watchOnly'] === true)) return watchTable(session, first, request);
  const sortPath = options['sortBy'];
  const query = sortPath ? { includeObject: 'Object' } : {};
  const { values, failures } = await settle(
    wanted.map((each) => fetchTable(session, each, { selection, query })),
    { ignoreNotFound: options['ignoreNotFound'] === true },
  );
  const tables = joinNeighbours(values).filter(({ rows }) => rows.length > 0);
  const isSeveral = new Set(wanted.map(({ resource }) => resource)).size > 1;
  const shown = tables.map((table) => {
    const rows = typeof sortPath === 'string' ? sortBy(table.rows, sortPath, ({ object }) => object) : table.rows;
    return tablePrinter(viewOf(session, table.resource, request, isSeveral))(table.columns, rows);
  });
  // A blank line tells tables apart by their headers; without headers it is one list.
  session.out(shown.join(options['headers'] === false ? '' : '\n'));
  if (tables.length === 0 && failures.length === 0 && options['ignoreNotFound'] !== true)
    session.err(nothingFound(wanted, selection, session));
  tellFailures(failures, session);
  return failures.length === 0 ? EXIT.ok : EXIT.failure;
}

async function watchTable(session: Session, wanted: Wanted, request: TableRequest): Promise<number> {
  const { selection, options } = request;
  const withEvents = options['outputWatchEvents'] === true;
  const print = tablePrinter(viewOf(session, wanted.resource, request, false));
  const list = await fetchTable(session, wanted, { selection, query: {} });
  let columns: readonly TableColumn[] = list.columns;
  if (options['watchOnly'] !== true && list.rows.length > 0) session.out(print(columns, list.rows, withEvents ? 'ADDED' : undefined));
  const followed = { wanted, selection, resourceVersion: list.resourceVersion, accept: TABLE_ACCEPT };
  return followChanges<Table>(session, followed, ({ type, object }) => {
    const table = tableOf(object);
    if (table.columnDefinitions?.length) columns = table.columnDefinitions;
    session.out(print(columns, table.rows ?? [], withEvents ? type : undefined));
  });
}

function viewOf(
  { environment }: Session,
  resource: Wanted['resource'],
  { selection, options, isWide }: TableRequest,
  isSeveral: boolean,
): TableView {
  const labels = (options['labelColumns'] as readonly string[] | undefined) ?? [];
  return {
    isWide,
    withNamespace: selection.isAllNamespaces && resource.isNamespaced,
    withLabels: options['showLabels'] === true,
    labelColumns: labels.flatMap((keys) => keys.split(',')),
    kindPrefix: isSeveral || options['showKind'] === true ? qualifiedSingular(resource) : undefined,
    withHeaders: options['headers'] !== false,
    hasColour: environment?.hasColour === true,
  };
}

/** `a/x a/y` is one table, though it was two requests. */
function joinNeighbours(tables: readonly FetchedTable[]): readonly FetchedTable[] {
  const joined: FetchedTable[] = [];
  for (const table of tables) {
    const last = joined.at(-1);
    if (last?.resource === table.resource) joined[joined.length - 1] = { ...last, rows: [...last.rows, ...table.rows] };
    else joined.push(table);
  }
  return joined;
}
