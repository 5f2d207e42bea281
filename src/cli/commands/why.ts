/** `agentiso why`: the chain of causes from an object down to the one thing that blocks it, and what would help. */
import { blockersIn } from '#client/why/blockers.ts';
import type { Explanation } from '#client/why/explain.ts';
import { blockersText, explanationText } from '#client/why/print.ts';
import { summaryOf } from '#client/why/summary.ts';
import { fetchSurroundings } from '#client/why/surroundings.ts';
import { viewOf } from '#client/why/view.ts';
import { why } from '#client/why/why.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { toJson } from '../print/json.ts';
import { settle, tellFailures } from '../read/failures.ts';
import { resolveArguments, type Wanted } from '../resolve.ts';
import { UsageError } from '../usage-error.ts';

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

function whyThis({ resource, name = '' }: Wanted, options: OptionValues, session: Session): Promise<Explanation> {
  return why(session, {
    resource,
    name,
    namespace: session.namespace,
    resources: async () => (await session.discovery()).resources,
    flagsFor: (namespace) => flagsOf(namespace === undefined ? options : { ...options, namespace }),
  });
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
