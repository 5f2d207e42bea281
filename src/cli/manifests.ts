/** Manifest files as objects ready to be sent, or as complaints that name file, line and column. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { knownKind } from '#api/kinds.ts';
import { type ManifestDocument, parseManifest } from '#api/manifest.ts';
import { DEFAULT_NAMESPACE, type KindObject } from '#api/meta.ts';
import { formatProblem } from '#api/validate.ts';
import { AgentisoError, InvalidError, messageOf } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';

export interface Manifests {
  readonly objects: readonly KindObject[];
  /** `file:line:column: what is wrong and what would be accepted` */
  readonly problems: readonly string[];
}

/** Every document of every file is looked at, so that one run shows all mistakes. */
export function readManifests(paths: readonly string[]): Manifests {
  const objects: KindObject[] = [];
  const problems: string[] = [];
  const origins = new Map<string, string>();
  for (const file of paths.flatMap(filesIn)) {
    const manifest = parseManifest(readText(file));
    problems.push(...manifest.problems.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`));
    for (const document of manifest.documents) {
      const { object, complaints } = toObject(document, file);
      problems.push(...complaints, ...(object ? duplicates(object, document, file, origins) : []));
      if (object) objects.push(object);
    }
  }
  if (objects.length === 0 && problems.length === 0) {
    problems.push(`${paths.join(', ')}: no resources found; expected YAML documents with kind and metadata`);
  }
  return { objects, problems };
}

function duplicates({ kind, metadata }: KindObject, document: ManifestDocument, file: string, origins: Map<string, string>): string[] {
  const { line, column } = document.locate(['metadata', 'name']);
  const id = `${kind} ${metadata.namespace}/${metadata.name}`;
  const first = origins.get(id);
  origins.set(id, first ?? `${file}:${line}`);
  return first ? [`${file}:${line}:${column}: ${id} is already defined at ${first}; keep one of them`] : [];
}

function toObject({ value, locate }: ManifestDocument, file: string): { object?: KindObject; complaints: string[] } {
  const metadata = isObject(value['metadata']) ? value['metadata'] : {};
  const object = { ...value, metadata: { ...metadata, namespace: metadata['namespace'] ?? DEFAULT_NAMESPACE } } as unknown as KindObject;
  try {
    knownKind(object.kind).admit(object, undefined);
    return { object, complaints: [] };
  } catch (error) {
    if (!(error instanceof InvalidError)) throw error;
    const complaints = error.fields.map((field) => {
      const { line, column } = locate(field.segments);
      return `${file}:${line}:${column}: ${formatProblem(field)}`;
    });
    return { complaints };
  }
}

function filesIn(path: string): string[] {
  if (path === '-') return [path];
  if (!statOf(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(path, name));
}

function statOf(path: string) {
  try {
    return statSync(path);
  } catch (error) {
    throw new AgentisoError('NotFound', `${path}: no such file or folder`, {
      cause: error,
      hint: 'give a YAML file, a folder of them, or - for standard input',
    });
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    throw new AgentisoError('IoError', `${path}: ${messageOf(error)}`, { cause: error });
  }
}
