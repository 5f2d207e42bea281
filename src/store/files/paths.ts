/** Which file belongs to which object: resources/<plural>/<namespace>/<name>.yaml, and nothing else. */
import type { ObjectKey } from '#api/meta.ts';
import { isName } from '#api/names.ts';

export interface FileKind {
  readonly kind: string;
  readonly plural: string;
}

export const EXTENSION = '.yaml';

export class Paths {
  readonly root: string;
  readonly kinds: readonly FileKind[];
  readonly #plurals: ReadonlyMap<string, string>;

  constructor(root: string, kinds: readonly FileKind[]) {
    this.root = root;
    this.kinds = kinds;
    this.#plurals = new Map(kinds.map(({ kind, plural }) => [kind, plural]));
  }

  folderOf({ kind, namespace }: Pick<ObjectKey, 'kind' | 'namespace'>): string {
    return `${this.root}/${this.#plurals.get(kind)}/${namespace}`;
  }

  fileOf(key: ObjectKey): string {
    return `${this.folderOf(key)}/${key.name}${EXTENSION}`;
  }

  /** The object a file in a namespace folder stands for; undefined for names that are none of our business. */
  keyOf(kind: string, namespace: string, fileName: string): ObjectKey | undefined {
    if (!fileName.endsWith(EXTENSION) || fileName.startsWith('.')) return undefined;
    return { kind, namespace, name: fileName.slice(0, -EXTENSION.length) };
  }
}

export function isFolderName(name: string): boolean {
  return isName(name);
}

/** One string per object, for maps. */
export function idOf({ kind, namespace, name }: ObjectKey): string {
  return `${kind}/${namespace}/${name}`;
}
