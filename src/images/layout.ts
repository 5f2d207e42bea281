/** Where things are in the images directory. Pure. */
import { join } from 'node:path';

export interface Layout {
  readonly lock: string;
  /** apt's own memory: indexes and downloaded packages. */
  readonly apt: string;
  /** One file per name: which root it stands for. */
  readonly names: string;
  readonly roots: string;
  readonly kernels: string;
  readonly initrds: string;
  /** Of machines: the vm driver's, which makes them anew when they are gone. */
  readonly templates: string;
  /** What is being built, and what a build that was killed has left. */
  readonly scratch: string;
  name(name: string): string;
  root(hash: string): string;
  kernel(hash: string): string;
}

export function layoutOf(directory: string): Layout {
  const [names, roots, kernels] = ['names', 'roots', 'kernels'].map((name) => join(directory, name)) as [string, string, string];
  return {
    lock: join(directory, 'lock'),
    apt: join(directory, 'apt'),
    names,
    roots,
    kernels,
    initrds: join(directory, 'initrds'),
    templates: join(directory, 'templates'),
    scratch: join(directory, 'scratch'),
    name: (name) => join(names, `${name}.json`),
    root: (hash) => join(roots, hash),
    kernel: (hash) => join(kernels, hash),
  };
}
