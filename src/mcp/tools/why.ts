/** why: what an object waits for, or everything that is in the way. */
import { DEFAULT_NAMESPACE, type KindObject } from '#api/meta.ts';
import { shortName } from '#api/types.ts';
import { blockersIn } from '#client/why/blockers.ts';
import { type Explanation, explain } from '#client/why/explain.ts';
import { summaryOf } from '#client/why/summary.ts';
import { fetchSurroundings } from '#client/why/surroundings.ts';
import { viewOf } from '#client/why/view.ts';
import { why as whyObject } from '#client/why/why.ts';
import { NotFoundError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import { nearest } from '#lib/suggest.ts';
import { described, list, object, oneOf, text } from '#protocol/shape.ts';
import { kindField, namespaceField, objectName } from '../objects/fields.ts';
import { discovery, findKind } from '../objects/find-kind.ts';
import { defineTool, type ToolCall } from '../tool.ts';

const input = object(
  {},
  {
    kind: described(kindField, 'The kind of the object; without it teams, agents, tasks and merges are looked through.'),
    name: described(objectName, 'Full name, or short name such as build; absent: everything that is in the way of anything.'),
    namespace: namespaceField,
  },
);

const step = { object: text, says: text };
const advice = object({ text }, { command: described(text, 'For a shell of the operator; with apply the same can be done here.') });

const output = object(
  {
    state: described(oneOf('fine', 'waiting', 'stuck'), 'fine: as it should be. waiting: time mends it. stuck: somebody must act.'),
    summary: text,
  },
  {
    object: text,
    steps: described(list(object(step, { because: text })), 'From the object down to the one thing that blocks it.'),
    advice,
    blockers: list(object({ ...step, alike: list(text), in_the_way_of: list(text) }, { because: text, advice })),
  },
);

const MOST_BLOCKERS = 20;

export const why = defineTool({
  name: 'why',
  title: 'Explain why something waits',
  description:
    'Says why an object does not go on: follows what it waits for down to the one thing that blocks it, and what would help. Without a name: everything that stands in the way in the namespace, the worst first. Use it when a wait timed out, a team does not become Ready or a task stays Pending.',
  input,
  output,
  category: 'default',
  isReadOnly: true,
  quotesOthers: true,
  resource: ({ kind = '', name = '' }) => `${kind.toLowerCase()}/${name}`,
  async run({ kind, name, namespace = DEFAULT_NAMESPACE }, call) {
    if (name === undefined) return whyAnything(call, namespace);
    if (kind === undefined) return toAnswer(await whyNamed(call, name, namespace));
    const resources = async () => discovery().resources;
    return toAnswer(
      await whyObject(call, { resource: findKind(kind, 'get'), name, namespace, resources, flagsFor: () => flagsOf(namespace) }),
    );
  },
});

function flagsOf(namespace: string): readonly string[] {
  return namespace === DEFAULT_NAMESPACE ? [] : ['-n', namespace];
}

function toAnswer(explanation: Explanation) {
  const { object: about, state, steps } = explanation;
  const end = steps.at(-1);
  const summary = end ? `${end.object} ${end.says}${end.because === undefined ? '' : `: ${end.because}`}` : `${about} is ${state}`;
  return { ...explanation, summary };
}

async function whyNamed(call: ToolCall, name: string, namespace: string): Promise<Explanation> {
  const surroundings = await fetchSurroundings(call, { namespace, isNeeded: true });
  const view = viewOf({ ...surroundings, flags: flagsOf(namespace) });
  const called = view.objects.filter((each) => each.metadata.name === name || shortOf(each) === name);
  const explained = called.map((each) => explain(each, view, new Date()));
  const worst = explained.find(({ state }) => state === 'stuck') ?? explained.find(({ state }) => state === 'waiting') ?? explained[0];
  if (worst) return worst;
  const meant = nearest(
    name,
    view.objects.flatMap((each) => [each.metadata.name, shortOf(each)]),
  );
  throw new NotFoundError(`nothing in namespace ${namespace} is called ${name}${meant === undefined ? '' : `; did you mean ${meant}?`}`, {
    hint: 'list shows names; without a name, why tells everything that is in the way',
  });
}

function shortOf({ metadata, spec }: KindObject): string {
  const team = isObject(spec) && typeof spec['team'] === 'string' ? spec['team'] : '';
  return shortName(team, metadata.name);
}

async function whyAnything(call: ToolCall, namespace: string) {
  const surroundings = await fetchSurroundings(call, { namespace, isNeeded: true });
  const objects = surroundings.objects.filter(({ kind }) => kind !== 'Merge');
  const found = blockersIn(viewOf({ ...surroundings, objects, flags: flagsOf(namespace) }), new Date());
  const blockers = found.slice(0, MOST_BLOCKERS).map(({ inTheWayOf, ...rest }) => ({ ...rest, in_the_way_of: inTheWayOf }));
  if (found.length === 0) return { state: 'fine' as const, summary: summaryOf(objects, namespace).trimEnd(), blockers };
  return { state: 'stuck' as const, summary: `${found.length} in the way, ${blockers.length} shown`, blockers };
}
