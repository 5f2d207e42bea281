/** list: many objects in short, or whole. */
import type { ApiResource } from '#client/discovery.ts';
import { type ApiObject, getJson, type ResourceLocation, resourcePath } from '#client/resource-api.ts';
import { TABLE_ACCEPT, type Table } from '#client/table.ts';
import {
  anyFields,
  count,
  described,
  finite,
  flag,
  integer,
  list as listOf,
  map,
  object,
  type Parsed,
  parser,
  text,
} from '#protocol/shape.ts';
import { kindField, namespaceField, plainText, teamField } from '../objects/fields.ts';
import { findKind } from '../objects/find-kind.ts';
import { plainObject } from '../objects/plain-object.ts';
import { locationOf } from '../objects/selection.ts';
import { cutText, fitting, shorten } from '../objects/shorten.ts';
import { defineTool, type ToolCall } from '../tool.ts';

const MAX_ROWS = 200;
const USUAL_ROWS = 100;
const USUAL_WHOLE = 20;
const MAX_CELL_BYTES = 200;

const input = object(
  { kind: kindField },
  {
    namespace: described(namespaceField, 'Only of this namespace; of all when absent.'),
    team: described(teamField, 'Only what belongs to this team.'),
    label_selector: described(plainText(1_000), 'Labels: a=b,c!=d,e in (f,g).'),
    field_selector: described(plainText(1_000), 'Fields: status.phase=Failed, metadata.name=x, spec.team=sprint.'),
    limit: described(integer({ min: 1, max: MAX_ROWS }), `How many at most; ${USUAL_ROWS}, or ${USUAL_WHOLE} with full, when absent.`),
    full: described(flag, 'Whole objects instead of rows.'),
    next: described(plainText(10_000), 'From the answer before, with the same other fields: goes on after it.'),
  },
);
type Asked = Parsed<typeof input>;

/** A cell of the table: text, number or yes and no. */
const cell = parser<string | number | boolean>(
  (value, what) => (typeof value === 'boolean' ? flag(value, what) : typeof value === 'number' ? finite(value, what) : text(value, what)),
  () => ({ type: ['string', 'number', 'boolean'] }),
);

const output = object(
  {
    count: described(count, 'How many are in this answer.'),
    version: described(text, 'To be given to watch as since_version: then nothing after this answer is missed.'),
    is_cut: described(flag, 'There are more, or long texts are cut.'),
  },
  {
    rows: listOf(object({ name: text, columns: map(cell) }, { namespace: text })),
    objects: listOf(anyFields),
    next: described(text, 'There are more: call again with this.'),
    remaining: described(count, 'How many more there are.'),
  },
);

export const list = defineTool({
  name: 'list',
  title: 'List objects',
  description:
    'Lists objects of one kind, a row each with the most telling columns; full: true gives whole objects. Narrow it with team, label_selector or field_selector. When is_cut is true, call again with next. get reads one object, team_status a whole team.',
  input,
  output,
  category: 'default',
  isReadOnly: true,
  quotesOthers: true,
  resource: ({ kind, team }) => (team === undefined ? kind.toLowerCase() : `${kind.toLowerCase()} of team/${team}`),
  async run(asked, call) {
    const resource = findKind(asked.kind, 'list');
    return asked.full === true ? wholeObjects(call, resource, asked) : rowsOf(call, resource, asked);
  },
});

interface Page {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string; readonly remainingItemCount?: number };
}

async function rowsOf(call: ToolCall, resource: ApiResource, asked: Asked) {
  const table = await pageOf<Table & Page>(call, resource, asked, { limit: asked.limit ?? USUAL_ROWS, accept: TABLE_ACCEPT });
  const columns = table.columnDefinitions ?? [];
  const rows = (table.rows ?? []).map(({ cells, object: shown }) => {
    const { name = '', namespace } = shown?.metadata ?? {};
    const told = columns.flatMap(({ name: title, format, priority = 0 }, at) =>
      priority > 0 || format === 'name' ? [] : [[title.toLowerCase(), toCell(cells[at])] as const],
    );
    return { name, ...(namespace ? { namespace } : {}), columns: Object.fromEntries(told.filter(([, value]) => value !== '')) };
  });
  return { rows, ...endOf(table, rows.length, false) };
}

function toCell(value: unknown): string | number | boolean {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (value === null || value === undefined) return '';
  return cutText(typeof value === 'string' ? value : JSON.stringify(value), MAX_CELL_BYTES);
}

type Whole = Page & { readonly kind: string; readonly apiVersion: string; readonly items?: readonly ApiObject[] | null };

/** When not all fit, it is asked again for as many as do: so the answer can be gone on from. */
async function wholeObjects(call: ToolCall, resource: ApiResource, asked: Asked) {
  const limit = asked.limit ?? USUAL_WHOLE;
  const page = await pageOf<Whole>(call, resource, asked, { limit });
  const fits = fitting(objectsIn(page).map(({ value }) => value)).length;
  const taken = fits === (page.items ?? []).length ? page : await pageOf<Whole>(call, resource, asked, { limit: fits });
  const shown = objectsIn(taken);
  return {
    objects: shown.map(({ value }) => value),
    ...endOf(
      taken,
      shown.length,
      shown.some(({ isCut }) => isCut),
    ),
  };
}

function objectsIn({ kind, apiVersion, items }: Whole) {
  return (items ?? []).map((item) => shorten(plainObject({ ...item, apiVersion, kind: kind.replace(/List$/, '') })));
}

function endOf({ metadata = {} }: Page, shown: number, isCut: boolean) {
  const { resourceVersion = '', continue: next = '', remainingItemCount } = metadata;
  return {
    count: shown,
    version: resourceVersion,
    is_cut: isCut || next !== '',
    ...(next === '' ? {} : { next }),
    ...(remainingItemCount === undefined ? {} : { remaining: remainingItemCount }),
  };
}

interface PageCall {
  readonly limit: number;
  readonly accept?: string;
}

function pageOf<T>({ connection, signal }: ToolCall, resource: ApiResource, asked: Asked, { limit, accept }: PageCall): Promise<T> {
  const location: ResourceLocation = locationOf(resource, asked);
  const path = resourcePath(resource, { ...location, query: { ...location.query, limit, continue: asked.next } });
  return getJson<T>(connection, path, { signal, ...(accept === undefined ? {} : { accept }) });
}
