/** Words that only a server or a kubeconfig knows. Whoever does not answer in a moment has no words. */
import { readKubeconfig } from '#client/kubeconfig.ts';
import { listObjects } from '#client/resource-api.ts';
import { timeLimit } from '#lib/time-limit.ts';
import { environmentOf, type Session, text, withSession } from '../api-command.ts';
import { type CommandContext, EXIT, type OptionValues } from '../command.ts';
import type { Candidate } from './candidates.ts';

const PATIENCE_MS = 2_000;

export function types(values: OptionValues, context: CommandContext): Promise<readonly Candidate[]> {
  return ask(values, context, async ({ discovery }) => {
    const { resources } = await discovery();
    const listable = resources.filter(({ verbs, isPreferred }) => isPreferred && verbs.includes('list'));
    return [...new Map(listable.map(({ plural, kind }) => [plural, { word: plural, meaning: kind }])).values()];
  });
}

export function namesOf(type: string, values: OptionValues, context: CommandContext): Promise<readonly Candidate[]> {
  return ask(values, context, async ({ connection, discovery, namespace, signal }) => {
    const resource = (await discovery()).find(type.split(',')[0] ?? '');
    const { items } = await listObjects(connection, { resource, location: { namespace }, signal });
    return items.map(({ metadata }) => ({ word: metadata.name ?? '' }));
  });
}

export function namespaces(values: OptionValues, context: CommandContext): Promise<readonly Candidate[]> {
  return namesOf('namespaces', values, context);
}

export async function contextNames(values: OptionValues, context: CommandContext): Promise<readonly Candidate[]> {
  const { kubeconfig: fromEnvironment, userHome } = environmentOf(context);
  try {
    const { contexts } = await readKubeconfig({ given: text(values['kubeconfig']), fromEnvironment, userHome });
    return contexts.map(({ name }) => ({ word: name }));
  } catch {
    return [];
  }
}

async function ask(
  values: OptionValues,
  context: CommandContext,
  work: (session: Session) => Promise<readonly Candidate[]>,
): Promise<readonly Candidate[]> {
  let found: readonly Candidate[] = [];
  const quiet = { ...context, err: () => {}, signal: AbortSignal.any([context.signal, timeLimit(PATIENCE_MS)]) };
  try {
    await withSession(values, quiet, async (session) => {
      found = await work(session);
      return EXIT.ok;
    });
  } catch {
    // Without a server there is nothing to offer.
  }
  return found;
}
