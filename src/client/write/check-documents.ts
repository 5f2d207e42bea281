/**
 * What can be known of documents before they are sent: that each says what it is, and that no two are the same; and, for kinds of ours,
 * everything the server would say about them, with lines and suggestions. That needs the schemas, which cost more to load than a request:
 * they are for when something is wrong, or when no server is asked.
 */
import { GROUP, type KindObject } from '#api/meta.ts';
import { InvalidError } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import type { SourceDocument } from './source-document.ts';

export interface CheckOptions {
  /** For documents that name none. */
  readonly namespace: string;
  /** `-n` was given: documents may not name another one. */
  readonly isNamespaceEnforced: boolean;
  /** create may leave the choice of a name to the server; apply has to know it. */
  readonly allowsGenerateName: boolean;
}

/** `file:line:column: what is wrong and what would be accepted`. Something wrong is told with all the rest that is. */
export async function checkDocuments(documents: readonly SourceDocument[], options: CheckOptions): Promise<string[]> {
  const origins = new Map<string, string>();
  const found = documents.map((document) => identityProblems(document, options));
  const identified = documents.filter((_, index) => found[index]?.length === 0);
  const problems = [...found.flat(), ...identified.flatMap((document) => duplicates(document, options, origins))];
  if (problems.length === 0) return [];
  // What is missing is often there under a name that is nearly right.
  return [...new Set([...problems, ...(await schemaProblems(documents.filter(isTyped), options.namespace))])];
}

export function metadataOf({ metadata }: JsonObject): JsonObject {
  return isObject(metadata) ? metadata : {};
}

function identityProblems({ object, at }: SourceDocument, { namespace, isNamespaceEnforced, allowsGenerateName }: CheckOptions): string[] {
  const metadata = metadataOf(object);
  const missing = (['apiVersion', 'kind'] as const).filter((field) => typeof object[field] !== 'string' || object[field] === '');
  const problems = missing.map((field) => `${at([field])}: ${field}: Required value; every document needs apiVersion, kind and metadata`);
  if (typeof metadata['name'] !== 'string' || metadata['name'] === '') {
    const prefix = metadata['generateName'];
    if (typeof prefix !== 'string') problems.push(`${at(['metadata'])}: metadata.name: Required value; name the resource`);
    else if (!allowsGenerateName) problems.push(`${at(['metadata', 'generateName'])}: from ${prefix}: cannot use generate name with apply`);
  }
  const own = metadata['namespace'];
  if (isNamespaceEnforced && typeof own === 'string' && own !== namespace) {
    const advice = `does not match the namespace "${namespace}". You must pass '--namespace=${own}' to perform this operation.`;
    problems.push(`${at(['metadata', 'namespace'])}: the namespace from the provided object "${own}" ${advice}`);
  }
  return problems;
}

function duplicates({ object, at }: SourceDocument, { namespace }: CheckOptions, origins: Map<string, string>): string[] {
  const { name, namespace: own = namespace } = metadataOf(object);
  if (name === undefined) return [];
  const id = `${object['kind']} ${own}/${name}`;
  const place = at(['metadata', 'name']);
  const first = origins.get(`${object['apiVersion']} ${id}`);
  origins.set(`${object['apiVersion']} ${id}`, first ?? place.replace(/:\d+$/, ''));
  return first ? [`${place}: ${id} is already defined at ${first}; keep one of them`] : [];
}

function isTyped({ object }: SourceDocument): boolean {
  return typeof object['apiVersion'] === 'string' && typeof object['kind'] === 'string';
}

/** As `checkDocuments`, by the schemas of our kinds; those of others are left to the server. */
export async function schemaProblems(documents: readonly SourceDocument[], namespace: string): Promise<string[]> {
  return ourProblems(
    documents.filter(({ object }) => String(object['apiVersion']).startsWith(`${GROUP}/`)),
    namespace,
  );
}

/** As if all of them had to be of our kinds. */
export async function ourProblems(documents: readonly SourceDocument[], namespace: string): Promise<string[]> {
  if (documents.length === 0) return [];
  const [{ knownKind }, { formatProblem }] = await Promise.all([import('#api/kinds.ts'), import('#api/invalid-object.ts')]);
  return documents.flatMap(({ object, at }) => {
    const metadata = metadataOf(object);
    const named = { name: `${metadata['generateName']}xxxxx`, namespace, ...metadata };
    try {
      knownKind(object['kind']).admit({ ...object, metadata: named } as unknown as KindObject, undefined);
      return [];
    } catch (error) {
      if (!(error instanceof InvalidError)) throw error;
      return error.fields.map((field) => `${at(field.segments)}: ${formatProblem(field)}`).sort(fromTopToBottom);
    }
  });
}

/** The order in which a person goes through a file. */
export function fromTopToBottom(a: string, b: string): number {
  const lineOf = (problem: string) => Number(/:(\d+):\d+: /.exec(problem)?.[1] ?? 0);
  return lineOf(a) - lineOf(b);
}
