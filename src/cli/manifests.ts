/** Manifest files as objects ready to be sent, or as complaints that name file, line and column. Needs no server. */

import { formatProblem } from '#api/invalid-object.ts';
import type { Kind } from '#api/kind.ts';
import { kindNamed, knownKind } from '#api/kinds.ts';
import { DEFAULT_NAMESPACE, type KindObject } from '#api/meta.ts';
import { setProblems } from '#api/set-check.ts';
import { objectsAmong } from '#api/with-set.ts';
import { fromTopToBottom } from '#client/write/check-documents.ts';
import { setLines } from '#client/write/set-lines.ts';
import type { SourceDocument } from '#client/write/source-document.ts';
import { InvalidError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import { readDocuments } from './write/documents.ts';

export interface Manifests {
  readonly objects: readonly KindObject[];
  /** `file:line:column: what is wrong and what would be accepted` */
  readonly problems: readonly string[];
}

export interface ManifestSources {
  readonly filenames: readonly string[];
  readonly isRecursive?: boolean;
  /** The files speak for the whole of every team in them: what a task of such a team waits for must be among them. */
  readonly isWhole?: boolean;
  readonly signal?: AbortSignal;
}

/** Every document of every file is looked at, so that one run shows all mistakes. */
export async function readManifests(sources: ManifestSources): Promise<Manifests> {
  const { filenames, isRecursive = false, isWhole = false, signal } = sources;
  const read = await readDocuments({ filenames, isRecursive, ...(signal ? { signal } : {}) });
  const objects: KindObject[] = [];
  const problems: string[] = [];
  const members: Member[] = [];
  const origins = new Map<string, string>();
  for (const document of read.documents) {
    const { object, admitted, complaints } = toObject(document);
    problems.push(...complaints, ...(object ? duplicates(object, document, origins) : []));
    if (object) objects.push(object);
    if (admitted) members.push({ object: admitted, document });
  }
  // Of a set that is not whole, or has one of them twice, what is missing or ambiguous may be the mistake that was told already.
  if (problems.length === 0) problems.push(...togetherProblems(members, isWhole));
  if (read.documents.length > 0) return { objects, problems: [...read.problems, ...problems] };
  const isEmpty = read.problems.every((problem) => !/:\d+:\d+: /.test(problem));
  const nothing = `${filenames.join(', ')}: no resources found; expected YAML documents with kind and metadata`;
  return { objects, problems: isEmpty ? [nothing] : read.problems };
}

interface Member {
  /** With all defaults. */
  readonly object: KindObject;
  readonly document: SourceDocument;
}

function togetherProblems(members: readonly Member[], isWhole: boolean): string[] {
  return setLines(
    setProblems(members, { existing: objectsAmong([]), knows: isWhole ? 'teams' : 'nothing' }),
    members.map(({ document }) => document),
  );
}

function duplicates({ kind, metadata }: KindObject, { at }: SourceDocument, origins: Map<string, string>): string[] {
  const place = at(['metadata', 'name']);
  const id = metadata.namespace === '' ? `${kind} ${metadata.name}` : `${kind} ${metadata.namespace}/${metadata.name}`;
  const first = origins.get(id);
  origins.set(id, first ?? place.replace(/:\d+$/, ''));
  return first ? [`${place}: ${id} is already defined at ${first}; keep one of them`] : [];
}

function toObject({ object: value, at }: SourceDocument): { object?: KindObject; admitted?: KindObject; complaints: string[] } {
  try {
    const kind = writableKind(value['kind']);
    const metadata = isObject(value['metadata']) ? value['metadata'] : {};
    const namespace = kind.isNamespaced ? (metadata['namespace'] ?? DEFAULT_NAMESPACE) : '';
    const object = { ...value, metadata: { ...metadata, namespace } } as unknown as KindObject;
    return { object, admitted: kind.admit(object, undefined), complaints: [] };
  } catch (error) {
    if (!(error instanceof InvalidError)) throw error;
    return { complaints: error.fields.map((field) => `${at(field.segments)}: ${formatProblem(field)}`).sort(fromTopToBottom) };
  }
}

/** Kinds that are not ours, and that people write all the same. */
const CORE_KINDS: readonly unknown[] = ['Namespace', 'ConfigMap'];

function writableKind(name: unknown): Kind {
  const core = CORE_KINDS.includes(name) ? kindNamed(String(name)) : undefined;
  return core ?? knownKind(name);
}
