import { describe, expect, it } from 'vitest';
import { type Inventory, planPrune, type StoredRoot } from './prune-plan.ts';

const root = (hash: string, builtAt: string, more: Partial<StoredRoot> = {}): StoredRoot => ({
  path: `/roots/${hash}`,
  bytes: 300,
  hash,
  kernel: 'k1',
  builtAt,
  archives: [`${hash}.deb`],
  ...more,
});
const name = (of: string, hash: string) => ({ path: `/names/${of}`, bytes: 0, name: of, hash });
const deb = (of: string) => ({ path: `/debs/${of}`, bytes: 50, name: of });

const inventory: Inventory = {
  names: [name('base', 'b'), name('python', 'p'), name('rust', 'r')],
  roots: [root('b', '2026-01-01'), root('p', '2026-02-01'), root('r', '2026-03-01'), root('old', '2025-01-01', { kernel: 'k0' })],
  kernels: [
    { path: '/kernels/k0', bytes: 60, hash: 'k0' },
    { path: '/kernels/k1', bytes: 60, hash: 'k1' },
  ],
  initrds: [{ path: '/initrds/1', bytes: 4 }],
  templates: [
    { path: '/templates/b', bytes: 100, root: '/roots/b/root.ext4' },
    { path: '/templates/old', bytes: 100, root: '/roots/old/root.ext4' },
  ],
  archives: [deb('b.deb'), deb('p.deb'), deb('old.deb')],
  leftovers: [{ path: '/scratch/x', bytes: 10 }],
  indexes: [{ path: '/apt/lists', bytes: 40 }],
};
const nobody = { isInUse: () => false };
const paths = (...args: Parameters<typeof planPrune>) => planPrune(...args).map(({ path }) => path);

describe('planPrune', () => {
  it('removes what no name leads to, and what only that needed', () => {
    const removed = ['/scratch/x', '/roots/old', '/kernels/k0', '/initrds/1', '/templates/old', '/debs/old.deb'];
    expect(paths(inventory, nobody)).toEqual(removed);
  });

  it('keeps what a running machine uses, and what that needs', () => {
    const isInUse = (path: string) => ['/roots/old', '/initrds/1'].includes(path);
    expect(paths(inventory, { isInUse })).toEqual(['/scratch/x']);
  });

  it('removes a root that is not whole, and the name that leads to it', () => {
    const { kernel: _, ...broken } = root('p', '2026-02-01');
    const roots = inventory.roots.map((each) => (each.hash === 'p' ? broken : each));
    expect(paths({ ...inventory, roots }, nobody)).toEqual(expect.arrayContaining(['/names/python', '/roots/p']));
  });

  it.each([
    { budget: 1_200, gone: [], why: 'it is kept to without giving anything up' },
    { budget: 960, gone: ['/debs/b.deb', '/apt/lists', '/templates/b'], why: 'what only saves a download or a boot goes first' },
    { budget: 700, gone: ['/names/python', '/roots/p'], stays: ['/names/rust', '/names/base'], why: 'then the oldest image' },
    { budget: 400, gone: ['/names/python', '/names/rust'], stays: ['/names/base', '/roots/b'], why: 'base goes last' },
    { budget: 0, gone: ['/names/base', '/roots/b', '/kernels/k1'], why: 'with no budget everything goes' },
  ])('a budget of $budget: $why', ({ budget, gone, stays = [] }) => {
    const removed = paths(inventory, { ...nobody, budgetBytes: budget });
    expect(removed).toEqual(expect.arrayContaining(gone));
    expect(removed.filter((path) => stays.includes(path))).toEqual([]);
    if (gone.length === 0) expect(removed).toEqual(paths(inventory, nobody));
  });
});
