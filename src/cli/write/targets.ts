/** Which objects a command means: `TYPE NAME…`, `TYPE/NAME…`, `TYPE -l …`, `TYPE --all`, or what the files of `-f` name. */
import { listObjects } from '#client/resource-api.ts';
import { namespaceOf, ofDocument, type Target } from '#client/write/target.ts';
import { AgentisoError } from '#lib/errors.ts';
import { type Session, text } from '../api-command.ts';
import type { Option, OptionValues } from '../command.ts';
import { resolveArguments, type Wanted } from '../resolve.ts';
import { UsageError } from '../usage-error.ts';
import { readDocuments } from './documents.ts';
import { FILENAME_OPTIONS, filenamesOf, SELECTOR_OPTION } from './flags.ts';

export interface Targets {
  readonly targets: readonly Target[];
  /** Named by the person, one by one: each must exist. */
  readonly isNamed: boolean;
}

export const TARGETS_OPTIONS: readonly Option[] = [
  ...FILENAME_OPTIONS,
  SELECTOR_OPTION,
  { flags: '--field-selector <selector>', description: 'fields to select by: metadata.name=x,status.phase=Ready' },
  { flags: '--all', description: 'all resources of the type' },
  { flags: '-A, --all-namespaces', description: 'in all namespaces' },
];

export async function findTargets(session: Session, args: readonly string[], options: OptionValues): Promise<Targets> {
  const filenames = filenamesOf(options);
  if (filenames.length > 0) return ofFiles(session, args, options);
  if (args.length === 0) {
    throw new UsageError('You must provide one or more resources by argument or filename.', {
      hint: 'for example: -f team.yaml, TYPE NAME, TYPE/NAME or TYPE -l SELECTOR',
    });
  }
  const file = args.find((word) => /\.(?:ya?ml|json)$/.test(word));
  if (file !== undefined) throw new UsageError(`'${file}' is no resource; files are named with -f`, { hint: `use: -f ${file}` });
  const wanted = resolveArguments(await session.discovery(), args);
  const isSelecting = ['selector', 'fieldSelector'].some((option) => options[option] !== undefined) || options['all'] === true;
  const isNamed = wanted.some(({ name }) => name !== undefined);
  checkChoice(options, { isSelecting, isNamed });
  if (!isNamed) return { isNamed: false, targets: await selected(session, wanted, options) };
  const targets = wanted.map(({ resource, name = '' }) => ({ resource, name, namespace: namespaceOf(resource, session.namespace) }));
  return { isNamed: true, targets };
}

function checkChoice(options: OptionValues, { isSelecting, isNamed }: { isSelecting: boolean; isNamed: boolean }): void {
  if (options['selector'] !== undefined && options['all'] === true)
    throw new UsageError("setting 'all' parameter but found a non empty selector");
  if (isNamed && isSelecting) throw new UsageError('name cannot be provided when a selector is specified');
  if (isNamed && options['allNamespaces'] === true) throw new UsageError('a resource cannot be retrieved by name across all namespaces');
  if (!isNamed && !isSelecting)
    throw new UsageError('resource(s) were provided, but no name was specified', { hint: 'name some, select them with -l, or say --all' });
}

async function ofFiles(session: Session, args: readonly string[], options: OptionValues): Promise<Targets> {
  if (args.length > 0) {
    throw new UsageError('when paths, URLs, or stdin is provided as resource input, you may not specify resource arguments as well');
  }
  const files = { filenames: filenamesOf(options), isRecursive: options['recursive'] === true, signal: session.signal };
  const { documents, problems } = await readDocuments(files);
  if (problems.length > 0) throw new AgentisoError('Invalid', problems.join('\n'));
  const scope = { discovery: await session.discovery(), namespace: session.namespace };
  return { isNamed: true, targets: documents.map((document) => ({ ...ofDocument(document, scope), source: document.source })) };
}

async function selected(session: Session, wanted: readonly Wanted[], options: OptionValues): Promise<Target[]> {
  const query = { labelSelector: text(options['selector']), fieldSelector: text(options['fieldSelector']) };
  const namespace = options['allNamespaces'] === true ? undefined : session.namespace;
  const targets: Target[] = [];
  for (const { resource } of wanted) {
    const { items } = await listObjects(session.connection, { resource, location: { namespace, query } });
    for (const { metadata } of items) targets.push({ resource, name: metadata.name ?? '', namespace: metadata.namespace });
  }
  return targets;
}
