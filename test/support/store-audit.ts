/** Whether the files of a settled store show exactly its objects, and nothing is left over. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KindObject } from '#api/meta.ts';
import { equalJson } from '#lib/json.ts';
import type { DirectoryStore } from '#store/directory.ts';
import { fileView } from '#store/files/view.ts';

const KINDS = ['Team', 'Agent', 'Task', 'Merge'];

/** What is wrong, one line each; empty when all is well. */
export function auditFiles({ store, paths }: DirectoryStore, isExpected: (path: string) => boolean = () => false): string[] {
  const problems: string[] = [];
  const shown = new Set<string>();
  const versions = new Map<string, string>();
  for (const object of KINDS.flatMap((kind) => store.list(kind).items)) {
    const path = paths.fileOf({ kind: object.kind, namespace: object.metadata.namespace, name: object.metadata.name });
    shown.add(path);
    problems.push(...differences(path, object));
    const other = versions.get(object.metadata.resourceVersion);
    if (other) problems.push(`${path} and ${other} have the same version ${object.metadata.resourceVersion}`);
    versions.set(object.metadata.resourceVersion, path);
  }
  for (const path of filesBelow(paths.root)) {
    if (!shown.has(path) && !isExpected(path)) problems.push(`${path} belongs to no object`);
  }
  return problems;
}

/** After a clean close: what is in HOME/state that should not be. */
export function auditState(home: string): string[] {
  const expected = /^(?:lock|boot|snapshot\.jsonl|tmp|edits|journal-\d{10}\.log)$/;
  const left = readdirSync(join(home, 'state')).filter((name) => !expected.test(name));
  const within = ['tmp', 'edits'].flatMap((name) => {
    const folder = join(home, 'state', name);
    return existsSync(folder) ? readdirSync(folder).map((file) => `${name}/${file}`) : [];
  });
  return [...left, ...within].map((name) => `state/${name} is left over`);
}

export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

function differences(path: string, object: KindObject): string[] {
  if (!existsSync(path)) return [`${path} is missing`];
  const mode = statSync(path).mode & 0o777;
  const problems = mode === 0o600 ? [] : [`${path} has mode ${mode.toString(8)}`];
  if (!equalJson(parse(readFileSync(path, 'utf8')), fileView(object))) {
    problems.push(`${path} does not show version ${object.metadata.resourceVersion}:\n${readFileSync(path, 'utf8')}`);
  }
  return problems;
}
