/** `get -o yaml|json|name|jsonpath|custom-columns`: the objects themselves. */
import type { ApiObject } from '#client/resource-api.ts';
import { toYaml } from '#lib/to-yaml.ts';
import type { Session } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { toJson } from '../print/json.ts';
import { type Output, objectPrinter, withoutManagedFields } from '../print/output.ts';
import type { PrintObjects } from '../print/printer.ts';
import type { Wanted } from '../resolve.ts';
import { settle, tellFailures } from './failures.ts';
import { fetchObjects, type Selection, typeNames } from './fetch.ts';
import { sortBy } from './sorting.ts';
import { followChanges } from './watch.ts';

export interface ObjectRequest {
  readonly wanted: readonly Wanted[];
  readonly selection: Selection;
  readonly options: OptionValues;
  readonly output: Extract<Output, { kind: 'objects' }>;
}

export async function getObjects(session: Session, request: ObjectRequest): Promise<number> {
  const { wanted, selection, options, output } = request;
  const print = objectPrinter(output, {
    withManagedFields: options['showManagedFields'] === true,
    withHeaders: options['headers'] !== false,
    typeName: typeNames(wanted),
  });
  const [first] = wanted;
  if (first && (options['watch'] === true || options['watchOnly'] === true)) return watchObjects(session, first, { request, print });
  const { values, failures } = await settle(
    wanted.map((each) => fetchObjects(session, each, selection)),
    { ignoreNotFound: options['ignoreNotFound'] === true },
  );
  const objects = inOrder(
    values.flatMap((value) => value.objects),
    options['sortBy'],
  );
  const isList = wanted.length > 1 || first?.name === undefined;
  if (objects.length > 0 || (isList && failures.length === 0)) session.out(print({ objects, isList }));
  tellFailures(failures, session);
  return failures.length === 0 ? EXIT.ok : EXIT.failure;
}

async function watchObjects(
  session: Session,
  wanted: Wanted,
  { request, print }: { request: ObjectRequest; print: PrintObjects },
): Promise<number> {
  const { selection, options, output } = request;
  const { objects, resourceVersion } = await fetchObjects(session, wanted, selection);
  const separator = output.format === 'yaml' ? '---\n' : '';
  const wrapped = options['outputWatchEvents'] === true ? eventPrinter(request) : undefined;
  let isFirst = true;
  const show = (type: string, object: ApiObject) => {
    session.out(`${isFirst ? '' : separator}${wrapped ? wrapped(type, object) : print({ objects: [object], isList: false })}`);
    isFirst = false;
  };
  if (options['watchOnly'] !== true) for (const object of objects) show('ADDED', object);
  return followChanges<ApiObject>(session, { wanted, selection, resourceVersion }, ({ type, object }) => show(type, object));
}

/** `{type, object}`, in the formats that can show both. */
function eventPrinter({ output, options }: ObjectRequest): ((type: string, object: ApiObject) => string) | undefined {
  if (output.format !== 'json' && output.format !== 'yaml') return undefined;
  const print = output.format === 'json' ? toJson : toYaml;
  return (type, object) => print({ type, object: options['showManagedFields'] === true ? object : withoutManagedFields(object) });
}

function inOrder(objects: readonly ApiObject[], path: OptionValues[string]): readonly ApiObject[] {
  return typeof path === 'string' ? sortBy(objects, path, (object) => object) : objects;
}
