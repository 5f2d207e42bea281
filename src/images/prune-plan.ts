/** What may go from an images directory: first what nobody can ask for any more, then, to stay within a budget, the oldest. Pure. */

export interface Stored {
  readonly path: string;
  readonly bytes: number;
}

export interface StoredRoot extends Stored {
  readonly hash: string;
  /** Absent, as are the others: it is not whole. */
  readonly kernel?: string;
  readonly builtAt?: string;
  /** Names of the downloaded packages it was made of. */
  readonly archives?: readonly string[];
}

export interface StoredKernel extends Stored {
  readonly hash: string;
}

export interface StoredName extends Stored {
  readonly name: string;
  readonly hash: string;
}

export interface Inventory {
  readonly names: readonly StoredName[];
  readonly roots: readonly StoredRoot[];
  readonly kernels: readonly StoredKernel[];
  readonly initrds: readonly Stored[];
  /** Of machines, with the root that they need; none of them is what a machine has open. */
  readonly templates: readonly (Stored & { readonly root: string })[];
  /** Downloads, by the name of the file. */
  readonly archives: readonly (Stored & { readonly name: string })[];
  /** What builds that were killed have left. */
  readonly leftovers: readonly Stored[];
  /** apt's indexes: they come back with the next build. */
  readonly indexes: readonly Stored[];
}

export interface PruneRules {
  /** Absent: no limit. */
  readonly budgetBytes?: number;
  /** Paths that belong to a machine that runs. */
  readonly isInUse: (path: string) => boolean;
}

export function planPrune(inventory: Inventory, { budgetBytes = Number.POSITIVE_INFINITY, isInUse }: PruneRules): readonly Stored[] {
  const total = everything(inventory).reduce((sum, { bytes }) => sum + bytes, 0);
  const left = (removed: readonly Stored[]) => total - removed.reduce((sum, { bytes }) => sum + bytes, 0);
  let removed = unneeded(inventory, { dropped: new Set(), withCaches: false, isInUse });
  if (left(removed) <= budgetBytes) return removed;
  const dropped = new Set<string>();
  removed = unneeded(inventory, { dropped, withCaches: true, isInUse });
  for (const { name } of oldestFirst(inventory)) {
    if (left(removed) <= budgetBytes) break;
    dropped.add(name);
    removed = unneeded(inventory, { dropped, withCaches: true, isInUse });
  }
  return removed;
}

interface Choice {
  /** Names that are given up. */
  readonly dropped: ReadonlySet<string>;
  /** Also what only saves a download, or a boot. */
  readonly withCaches: boolean;
  readonly isInUse: PruneRules['isInUse'];
}

function unneeded(inventory: Inventory, { dropped, withCaches, isInUse }: Choice): readonly Stored[] {
  const isWanted = ({ hash, path, kernel }: StoredRoot) =>
    isInUse(path) || (kernel !== undefined && inventory.names.some((each) => each.hash === hash && !dropped.has(each.name)));
  const roots = inventory.roots.filter(isWanted);
  const kernels = new Set(roots.map(({ kernel }) => kernel));
  const archives = new Set(roots.flatMap((root) => root.archives ?? []));
  const isKept = ({ hash }: StoredName) => roots.some((root) => root.hash === hash);
  return [
    ...inventory.leftovers,
    ...inventory.names.filter((each) => dropped.has(each.name) || !isKept(each)),
    ...inventory.roots.filter((root) => !roots.includes(root)),
    ...inventory.kernels.filter(({ hash, path }) => !kernels.has(hash) && !isInUse(path)),
    ...inventory.initrds.filter(({ path }) => !isInUse(path)),
    ...inventory.templates.filter(({ root }) => withCaches || !roots.some(({ path }) => root.startsWith(`${path}/`))),
    ...inventory.archives.filter(({ name }) => withCaches || !archives.has(name)),
    ...(withCaches ? inventory.indexes : []),
  ];
}

/** `base` last: it is the one that is used unless somebody asks for another. */
function oldestFirst({ names, roots }: Inventory): readonly StoredName[] {
  const builtAt = ({ hash, name }: StoredName) => (name === 'base' ? '~' : (roots.find((root) => root.hash === hash)?.builtAt ?? ''));
  return [...names].sort((a, b) => (builtAt(a) < builtAt(b) ? -1 : 1));
}

function everything({ names, roots, kernels, initrds, templates, archives, leftovers, indexes }: Inventory): readonly Stored[] {
  return [...names, ...roots, ...kernels, ...initrds, ...templates, ...archives, ...leftovers, ...indexes];
}
