/** The words that name what is copied: `PATH` here, `[NAMESPACE/]NAME:PATH` in an agent. Pure. */
import { UsageError } from '../usage-error.ts';
import { isPodType, meantBy } from './pod.ts';

export type CopyPlace = { readonly path: string } | { readonly path: string; readonly name: string; readonly namespace?: string };

/** A colon behind the first slash of a path is part of it: `./a:b` is a file of this machine. */
export function copyPlace(word: string): CopyPlace {
  const [, owner, path] = /^([^:]*):(.*)$/s.exec(word) ?? [];
  if (owner === undefined || path === undefined || /^[./]/.test(owner)) return { path: word };
  if (path === '') throw new UsageError(`${JSON.stringify(word)} names no path in the agent`);
  const [first = '', second] = owner.split('/');
  const isInNamespace = second !== undefined && !isPodType(first) && owner.split('/').length === 2;
  if (isInNamespace) return { path, namespace: first, name: meantBy(second).name };
  return { path, name: meantBy(owner).name };
}
