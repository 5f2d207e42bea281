/** `agentiso why`: the chain of causes from an object down to the one thing that blocks it, and what would help. */

import type { KindObject } from '#api/meta.ts';
import { shortName } from '#api/types.ts';
import { type ApiObject, getJson, listObjects, resourcePath } from '#client/resource-api.ts';
import { isNotFound, StatusError } from '#client/status-error.ts';
import { isObject } from '#lib/json.ts';
import { nearest } from '#lib/suggest.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { toJson } from '../print/json.ts';
import { settle, tellFailures } from '../read/failures.ts';
import { resolveArguments, type Wanted } from '../resolve.ts';
import { UsageError } from '../usage-error.ts';
import { blockersIn } from '../why/blockers.ts';
import { type Explanation, explain } from '../why/explain.ts';
import { blockersText, explanationText } from '../why/print.ts';
import { summaryOf } from '../why/summary.ts';
import { contentKinds, fetchSurroundings } from '../why/surroundings.ts';
import { viewOf } from '../why/view.ts';

export const whyCommand = apiCommand({
  name: 'why',
  args: '[type-and-names...]',
  summary: 'say why something does not go on, and what would help',
  description:
    'agentiso why task/NAME follows what an object waits for, down to the one thing that blocks it, and names the command that would help. Without a name: everything that is in the way of anything in the namespace. Exit code 0 whatever the answer is.',
  options: [{ flags: '-o, --output <format>', description: 'json', choices: ['json'] }],
  async run(args, options, session) {
    if (args.length === 0) return whyAnything(options, session);
    const wanted = resolveArguments(await session.discovery(), args);
    const nameless = wanted.find(({ name }) => name === undefined)?.resource;
    if (nameless) throw new UsageError(`which ${nameless.singular}?`, { hint: `use: agentiso why ${nameless.singular}/NAME` });
    const { values, failures } = await settle(wanted.map((each) => whyThis(each, options, session)));
    if (options['output'] === 'json') {
      if (values.length > 0) session.out(toJson(wanted.length === 1 ? values[0] : values));
    } else session.out(values.map(explanationText).join('\n'));
    tellFailures(failures, session);
    return failures.length === 0 ? EXIT.ok : EXIT.failure;
  },
});

async function whyThis({ resource, name = '' }: Wanted, options: OptionValues, session: Session): Promise<Explanation> {
  const { connection, signal } = session;
  const namespace = resource.isNamespaced ? session.namespace : undefined;
  const found = await getJson(connection, resourcePath(resource, { namespace, name }), { signal }).catch(async (error: unknown) => {
    throw isNotFound(error) ? await withMeant(error as StatusError, { resource, name }, session) : error;
  });
  const object = found as unknown as KindObject;
  const isNamespace = object.kind === 'Namespace';
  const kinds = isNamespace ? { kinds: contentKinds((await session.discovery()).resources) } : {};
  const surroundings = await fetchSurroundings(session, { namespace: isNamespace ? name : session.namespace, ...kinds });
  const flags = flagsOf(isNamespace ? { ...options, namespace: name } : options);
  return explain(object, viewOf({ ...surroundings, flags }), new Date());
}

async function whyAnything(options: OptionValues, session: Session): Promise<number> {
  const surroundings = await fetchSurroundings(session, { namespace: session.namespace, isNeeded: true });
  const objects = surroundings.objects.filter(({ kind }) => kind !== 'Merge');
  const now = new Date();
  const blockers = blockersIn(viewOf({ ...surroundings, objects, flags: flagsOf(options) }), now);
  if (options['output'] === 'json') session.out(toJson({ namespace: session.namespace, blockers }));
  else session.out(blockers.length > 0 ? blockersText(blockers) : summaryOf(objects, session.namespace));
  return EXIT.ok;
}

/** A name is often mistyped, or short where the full one is needed. */
async function withMeant(error: StatusError, { resource, name = '' }: Wanted, session: Session): Promise<StatusError> {
  const location = resource.isNamespaced ? { namespace: session.namespace } : {};
  const { items } = await listObjects(session.connection, { resource, location, signal: session.signal });
  const names = items.map(({ metadata }) => metadata.name ?? '');
  const short = new Map(items.map((item, at) => [shortName(teamOf(item), names[at] ?? ''), names[at] ?? '']));
  const meant = short.get(name) ?? nearest(name, names) ?? short.get(nearest(name, [...short.keys()]) ?? '');
  if (meant === undefined) return error;
  return new StatusError({ ...error.status, message: `${error.message}; did you mean ${meant}?` });
}

function teamOf({ spec }: ApiObject): string {
  return isObject(spec) && typeof spec['team'] === 'string' ? spec['team'] : '';
}

/** What was said about the place has to be said again for the commands that are named. */
function flagsOf(options: OptionValues): readonly string[] {
  const places: readonly [string, string][] = [
    ['namespace', '-n'],
    ['home', '--home'],
    ['context', '--context'],
    ['kubeconfig', '--kubeconfig'],
  ];
  return places.flatMap(([key, flag]) => {
    const value = text(options[key]);
    return value === undefined ? [] : [flag, value];
  });
}
