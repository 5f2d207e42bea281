/** The text of a manifest file as what it declares, or as what is wrong with it. Pure. */
import { kindNamed, knownKind } from '#api/kinds.ts';
import { type ManifestDocument, type Position, parseManifest } from '#api/manifest.ts';
import { DEFAULT_NAMESPACE, type Draft, formatKey, type KindObject, type ObjectKey } from '#api/meta.ts';
import { isName } from '#api/names.ts';
import { formatProblem } from '#api/validate.ts';
import { type FieldProblem, InvalidError, messageOf } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';

export interface Document {
  readonly id: string;
  readonly key: ObjectKey;
  /** What is applied. */
  readonly config: Draft;
  readonly line: number;
  /** A refusal in words that name the line of every bad field. */
  explain(error: unknown): string;
}

export interface TextComplaint extends Position {
  readonly message: string;
  /** The object the document wants to be, where that can be told. */
  readonly key?: ObjectKey;
}

export interface FileContent {
  /** Empty when anything in the file is wrong: it is taken whole or not at all. */
  readonly documents: readonly Document[];
  readonly complaints: readonly TextComplaint[];
  /** The objects it speaks of, also where what it says of them is wrong. */
  readonly ids: readonly string[];
  /** Nobody can tell what it speaks of. */
  readonly isUnknown: boolean;
}

export function readDocuments(text: string): FileContent {
  const { documents, problems } = parseManifest(text);
  const read = documents.map((document, index) => readDocument(document, locateAgain(text, index)));
  const complaints = [...problems, ...read.flatMap((one) => one.complaints)];
  return {
    documents: complaints.length > 0 ? [] : read.flatMap(({ document }) => document ?? []),
    complaints,
    ids: read.flatMap(({ key }) => (key ? [formatKey(key)] : [])),
    isUnknown: problems.length > 0,
  };
}

type Locate = ManifestDocument['locate'];

/** Made anew for the rare complaint after the first reading: to keep the parsed tree of every file costs ten times its text. */
function locateAgain(text: string, index: number): Locate {
  return (path) => parseManifest(text).documents[index]?.locate(path) ?? { line: 1, column: 1 };
}

interface ReadDocument {
  readonly document?: Document;
  readonly key?: ObjectKey;
  readonly complaints: readonly TextComplaint[];
}

function readDocument({ value, locate }: ManifestDocument, locateLater: Locate): ReadDocument {
  const metadata = isObject(value['metadata']) ? value['metadata'] : {};
  const object = { ...value, metadata: { ...metadata, namespace: metadata['namespace'] ?? DEFAULT_NAMESPACE } } as unknown as KindObject;
  const key = keyIn(object);
  const about = key ? { key } : {};
  try {
    knownKind(object.kind).admit(object, undefined);
  } catch (error) {
    const fields = error instanceof InvalidError ? error.fields : [];
    const complaints = fields.map((field) => ({ ...locate(field.segments), ...about, message: formatProblem(field) }));
    return { ...about, complaints: complaints.length > 0 ? complaints : [{ ...locate([]), ...about, message: messageOf(error) }] };
  }
  if (!key) throw new Error('an object without a name was admitted');
  return {
    key,
    complaints: [],
    document: { id: formatKey(key), key, config: configOf(object), line: locate(['kind']).line, explain: explainer(locateLater) },
  };
}

function keyIn({ kind, metadata: { namespace, name } }: KindObject): ObjectKey | undefined {
  return kindNamed(kind)?.crd && isName(namespace) && isName(name) ? { kind, namespace, name } : undefined;
}

/** What a person may say of an object. A manifest made from `get -o yaml` also has what the server says of it, and status (R6). */
function configOf({ status: _ignored, metadata, ...rest }: KindObject): Draft {
  const { name, namespace, labels, annotations, finalizers, ownerReferences } = metadata;
  const said = { name, namespace, labels, annotations, finalizers, ownerReferences };
  return { ...rest, metadata: withoutUndefined(said) } as unknown as Draft;
}

function withoutUndefined(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

/** On its own, so that it holds on to nothing but the text. */
function explainer(locate: Locate): Document['explain'] {
  return (error) => explainAt(error, locate);
}

function explainAt(error: unknown, locate: Locate): string {
  const fields: readonly FieldProblem[] = error instanceof InvalidError ? error.fields : [];
  if (fields.length === 0) return messageOf(error);
  return fields.map((field) => `line ${locate(field.segments).line}: ${formatProblem(field)}`).join('; ');
}
