/** `agentiso create`: makes what is not there yet, from files or, for namespaces, from a name. */
import type { ApiObject } from '#client/resource-api.ts';
import { type ApplyItem, toItems } from '#client/write/apply-set.ts';
import { configOf } from '#client/write/apply-step.ts';
import { FIELD_MANAGERS } from '#client/write/field-managers.ts';
import { withLastApplied } from '#client/write/last-applied.ts';
import { createObject } from '#client/write/requests.ts';
import { inOrderOfWriting } from '#client/write/writing-order.ts';
import type { JsonObject } from '#lib/json.ts';
import { apiCommand, type Session } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { complaint } from '../write/complaint.ts';
import { explained, refusalText } from '../write/explain.ts';
import {
  DRY_RUN_OPTION,
  dryRunOf,
  FILENAME_OPTIONS,
  fieldManagerOption,
  fieldValidationOf,
  filenamesOf,
  OUTPUT_OPTIONS,
  SELECTOR_OPTION,
  VALIDATE_OPTION,
} from '../write/flags.ts';
import { loadSet, tellProblems } from '../write/load-set.ts';
import { resultsTo } from '../write/results.ts';

export const createCommand = apiCommand({
  name: 'create',
  args: '[namespace] [name]',
  summary: 'create resources from files, or a namespace by name',
  options: [
    ...FILENAME_OPTIONS,
    SELECTOR_OPTION,
    DRY_RUN_OPTION,
    VALIDATE_OPTION,
    { flags: '--save-config', description: 'note the configuration for a later apply' },
    fieldManagerOption(FIELD_MANAGERS.create),
    ...OUTPUT_OPTIONS,
  ],
  async run(args, options, session) {
    const items = args.length > 0 ? [await namedItem(args, options, session)] : await itemsOfFiles(session, options);
    return items === undefined ? EXIT.failure : createAll(session, items, options);
  },
});

type Item = Pick<ApplyItem, 'target' | 'config'> & Partial<Pick<ApplyItem, 'document'>>;

async function namedItem([type = '', name]: readonly string[], options: OptionValues, session: Session): Promise<Item> {
  if (filenamesOf(options).length > 0) throw new UsageError('give either a file or a name');
  if (type !== 'namespace' && type !== 'ns')
    throw new UsageError(`cannot create ${JSON.stringify(type)} by name; only a namespace, everything else from a file with -f`);
  if (name === undefined) throw new UsageError('exactly one NAME is required, got 0');
  const target = { resource: (await session.discovery()).find('namespaces'), namespace: undefined, name };
  return { target, config: configOf({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, target) };
}

/** Nothing when there was something to complain about. */
async function itemsOfFiles(session: Session, options: OptionValues): Promise<Item[] | undefined> {
  const { documents, problems } = await loadSet(session, options, true);
  if (tellProblems(problems, session, 'create')) return undefined;
  const { items, unknown } = await toItems(documents, session);
  if (tellProblems(unknown, session, 'create')) return undefined;
  // Of several, none is made when one is wrong; a single one the server checks.
  const mistakes = items.length > 1 ? await explained(documents, [], { session, options }) : [];
  return tellProblems(mistakes, session, 'create') ? undefined : inOrderOfWriting(items);
}

async function createAll(session: Session, items: readonly Item[], options: OptionValues): Promise<number> {
  const dryRun = dryRunOf(options);
  const results = resultsTo({ out: session.out, options, dryRun });
  let done = 0;
  for (const item of items) {
    if (session.signal.aborted) {
      session.err(`interrupted: ${done} of ${items.length} created\n`);
      return EXIT.interrupted;
    }
    try {
      const object = await createOne(session, item, options);
      results.add({ resource: item.target.resource, name: object.metadata.name ?? item.target.name, outcome: 'created', object });
      done++;
    } catch (error) {
      const { document } = item;
      session.err(document ? await refusalText(error, { document, verb: 'creating', session, options }) : complaint(error));
    }
  }
  await results.finish();
  return done === items.length ? EXIT.ok : EXIT.failure;
}

async function createOne(session: Session, { target, config }: Item, options: OptionValues): Promise<ApiObject> {
  const body: JsonObject = options['saveConfig'] === true ? withLastApplied(config) : config;
  const dryRun = dryRunOf(options);
  if (dryRun === 'client') return body as ApiObject;
  return createObject(session, target, body, {
    fieldManager: String(options['fieldManager']),
    fieldValidation: fieldValidationOf(options),
    isDryRun: dryRun === 'server',
  });
}
