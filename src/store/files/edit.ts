/** What the text of a file asks for: one object, the one the path stands for, or a reason why not. Pure. */
import { MAX_DOCUMENT_BYTES, type Manifest, type ManifestDocument, parseManifest, type TextProblem } from '#api/manifest.ts';
import type { ObjectKey } from '#api/meta.ts';
import { isName } from '#api/names.ts';
import { formatProblem } from '#api/validate.ts';
import { type AgentisoError, InvalidError } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { readPlain } from './read-plain.ts';

/** Why an edit cannot be taken. */
export interface Refusal {
  readonly reason: string;
  readonly problems: readonly (TextProblem | { readonly message: string })[];
}

export type Edit = { readonly document: ManifestDocument } | { readonly refusal: Refusal; readonly value?: JsonObject };

export function parseEdit(key: ObjectKey, text: string): Edit {
  const { documents, problems } = readText(text);
  if (problems.length > 0) return { refusal: { reason: 'InvalidYaml', problems } };
  const [document, second] = documents;
  if (!document) return refused('InvalidYaml', { line: 1, column: 1, message: 'the file is empty; expected one resource' });
  if (second) return refused('InvalidEdit', { ...second.locate([]), message: 'a second document; the store keeps one object per file' });
  const misplaced = misplacement(key, document.value);
  if (!misplaced) return { document };
  const problem = { ...document.locate(misplaced.path), message: misplaced.message };
  return { refusal: { reason: 'InvalidEdit', problems: [problem] }, value: document.value };
}

/** Most edits leave our style as it is, and are then read without a YAML parser; it is asked for lines only if there is a complaint. */
function readText(text: string): Manifest {
  const value = text.length <= MAX_DOCUMENT_BYTES ? readPlain(text) : undefined;
  if (!value) return parseManifest(text);
  return {
    documents: [{ value, locate: (path) => parseManifest(text).documents[0]?.locate(path) ?? { line: 1, column: 1 } }],
    problems: [],
  };
}

/** The path of a file says which object it is; what it says inside must agree. */
function misplacement(key: ObjectKey, value: JsonObject): { path: string[]; message: string } | undefined {
  const metadata = isObject(value['metadata']) ? value['metadata'] : {};
  const { name, namespace = key.namespace } = metadata as { name?: unknown; namespace?: unknown };
  const both = 'both must be the same';
  if (!isName(key.name)) {
    const message = `the file name ${shown(key.name)} is not a name; use lower-case letters, digits and -, at most 63 characters`;
    return { path: ['metadata', 'name'], message };
  }
  if (value['kind'] !== key.kind) {
    return { path: ['kind'], message: `kind is ${shown(value['kind'])}, but files in this folder are of kind ${key.kind}` };
  }
  if (name !== key.name) {
    return { path: ['metadata', 'name'], message: `metadata.name is ${shown(name)}, but the file is called ${key.name}.yaml; ${both}` };
  }
  if (namespace === key.namespace) return undefined;
  return {
    path: ['metadata', 'namespace'],
    message: `metadata.namespace is ${shown(namespace)}, but the file is in the folder ${key.namespace}; ${both}`,
  };
}

/** What the store said to the edit, with the lines it is about. */
export function refusalOf(error: AgentisoError, { locate }: ManifestDocument): Refusal {
  if (!(error instanceof InvalidError)) return { reason: 'EditConflict', problems: [{ ...locate([]), message: error.message }] };
  const reason = error.reason === 'Invalid' ? 'InvalidEdit' : error.reason;
  const problems = error.fields.map((field) => ({ ...locate(field.segments), message: formatProblem(field) }));
  return { reason, problems: problems.length > 0 ? problems : [{ ...locate([]), message: error.message }] };
}

export function describeRefusal({ problems }: Refusal): string {
  return problems.map((problem) => ('line' in problem ? `line ${problem.line}: ${problem.message}` : problem.message)).join('; ');
}

function refused(reason: string, problem: TextProblem): Edit {
  return { refusal: { reason, problems: [problem] } };
}

function shown(value: unknown): string {
  return JSON.stringify(value ?? null);
}
