/**
 * A manifest on its way to the API: read, checked, tried as a whole. A set with a mistake in it changes nothing, and every mistake is told
 * with its line.
 */
import { parseManifest } from '#api/manifest.ts';
import { DEFAULT_NAMESPACE } from '#api/meta.ts';
import type { ApiObject } from '#client/resource-api.ts';
import { isNotFound, StatusError } from '#client/status-error.ts';
import { type ApplyOptions, type Tried, toItems, tryItems } from '#client/write/apply-set.ts';
import { checkDocuments, schemaProblems } from '#client/write/check-documents.ts';
import { isWaiting, setMistakes } from '#client/write/check-set.ts';
import { inParallel } from '#client/write/in-parallel.ts';
import type { Place } from '#client/write/place.ts';
import { opened, type SourceDocument } from '#client/write/source-document.ts';
import { getTarget } from '#client/write/target.ts';
import type { ToolCall } from '../tool.ts';
import { discovery } from './find-kind.ts';
import { manifestRefusal, toRefusal } from './refusal.ts';

export const FIELD_MANAGER = 'mcp';

/** One document: what it would become, and what is there now. */
export interface Planned extends Tried {
  readonly live?: ApiObject;
}

export interface ManifestSet {
  readonly place: Place;
  readonly planned: readonly Planned[];
  readonly options: ApplyOptions;
  /** What the API warned of; grows while it is written. */
  readonly warnings: ReadonlySet<string>;
}

export interface ManifestInput {
  readonly manifest: string;
  readonly namespace?: string;
  readonly force?: boolean;
}

const HINT = 'nothing was changed; correct the manifest and call again. explain says what a field means and accepts';

/** Throws when any of it would be refused. */
export async function planManifest(
  call: ToolCall,
  { manifest, namespace = DEFAULT_NAMESPACE, force = false }: ManifestInput,
): Promise<ManifestSet> {
  const warnings = new Set<string>();
  const err = (said: string) => void warnings.add(said.replace(/^Warning: |\n$/g, ''));
  const { connection, signal } = call;
  const place: Place = { connection, signal, namespace, err, isDaemon: true, discovery: async () => discovery() };
  const documents = await readManifest(manifest, namespace);
  const { items, unknown } = await toItems(documents, place);
  if (unknown.length > 0) throw manifestRefusal(unknown, HINT);
  const options: ApplyOptions = {
    isServerSide: true,
    isForced: force,
    isDryRun: false,
    fieldManager: FIELD_MANAGER,
    fieldValidation: 'Strict',
    isPartOfSet: items.length > 1 || isWaiting(items),
  };
  const live = await inParallel(items, ({ target }) => getTarget(connection, target).catch(undefinedIfNotFound));
  const trial = await tryItems(place, items, options);
  const planned = trial.tried.map((each, at) => ({ ...each, ...(live[at] ? { live: live[at] } : {}) }));
  await refuseRefused(planned, trial.problems, place);
  const mistakes = options.isPartOfSet ? await setMistakes(place, planned) : [];
  if (mistakes.length > 0) throw manifestRefusal(mistakes, HINT);
  return { place, planned, options, warnings };
}

async function readManifest(manifest: string, namespace: string): Promise<readonly SourceDocument[]> {
  const { documents: parsed, problems } = parseManifest(manifest);
  const placed = problems.map(({ line, column, message }) => `manifest:${line}:${column}: ${message}`);
  const documents = parsed.flatMap((document) => opened(document, 'manifest'));
  if (documents.length === 0 && placed.length === 0) placed.push('manifest:1:1: there is no document in it');
  const found = [...placed, ...(await checkDocuments(documents, { namespace, isNamespaceEnforced: false, allowsGenerateName: false }))];
  if (found.length > 0) throw manifestRefusal(found, HINT);
  return documents;
}

async function refuseRefused(planned: readonly Planned[], problems: readonly string[], place: Place): Promise<void> {
  const refused = planned.filter(({ error }) => error !== undefined);
  // Our own words are better, but know only whole documents: what changes an object may leave out what it has already.
  const isWhole = refused.every(({ live }) => live === undefined);
  const documents = refused.map(({ item }) => item.document);
  const ours = problems.length > 0 && isWhole ? await schemaProblems(documents, place.namespace) : [];
  const found = ours.length > 0 ? ours : problems;
  if (found.length > 0) throw manifestRefusal(found, HINT);
  const fatal = refused.find(({ error }) => !mayPass(error, planned));
  if (fatal) throw toRefusal(fatal.error, conflictHint(fatal.error));
}

/** Its namespace is in the set, too. */
function mayPass(error: unknown, planned: readonly Planned[]): boolean {
  if (!isNotFound(error) || !(error instanceof StatusError)) return false;
  const { kind, name } = error.status.details ?? {};
  return kind === 'namespaces' && planned.some(({ item }) => item.config['kind'] === 'Namespace' && item.target.name === name);
}

export function conflictHint(error: unknown): string | undefined {
  if (!(error instanceof StatusError) || error.code !== 'Conflict') return undefined;
  return 'somebody else set these fields: leave them out of the manifest, or take them over with force: true. diff shows what would change';
}

function undefinedIfNotFound(error: unknown): undefined {
  if (isNotFound(error)) return undefined;
  throw error;
}
