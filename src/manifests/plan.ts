/**
 * What to do about what was read: pure decisions over all directories at once, so that an object that moves from one file or
 * directory to another is never seen as gone.
 */
import type { KindObject } from '#api/meta.ts';
import { type Applied, applyInMs, isAppliedBy } from './applied.ts';
import { isDirectory } from './directory.ts';
import type { Declaration, DirectoryRead } from './directory-reader.ts';
import type { Problem } from './problem.ts';

export interface Situation {
  /** In the order the directories were given. */
  readonly reads: readonly DirectoryRead[];
  /** Objects that are declared, or that any of the directories has applied, by id. */
  readonly live: ReadonlyMap<string, KindObject>;
  /** Namespaces that are being deleted: what is put into them now would keep them from ending. */
  readonly closing: ReadonlySet<string>;
  /** What this process applied before, by id. */
  readonly applied: ReadonlyMap<string, Applied>;
  /** Since when objects are missing from their directories, by id. */
  readonly missingSinceMs: ReadonlyMap<string, number>;
  readonly nowMs: number;
}

export interface Prune {
  readonly object: KindObject;
  /** Where it was declared. */
  readonly path: string;
}

export interface Release {
  readonly object: KindObject;
  readonly fieldManager: string;
}

export interface Plan {
  /** Who speaks for each declared object. */
  readonly declared: ReadonlyMap<string, Declaration>;
  readonly apply: readonly Declaration[];
  /** Objects that one directory took over from another, which gives up what only it had set. */
  readonly release: readonly Release[];
  readonly prune: readonly Prune[];
  readonly problems: readonly Problem[];
  readonly missingSinceMs: ReadonlyMap<string, number>;
  readonly lookAgainMs: number;
}

/** Editors and people remove in one place before they write in another: look twice. */
export const MISSING_MS = 150;
/** How soon to see whether a namespace has ended, to make it and its objects again. */
const CLOSING_MS = 500;

export function planChanges(situation: Situation): Plan {
  const { reads, live, applied, closing, nowMs } = situation;
  const claims = claimsOf(reads);
  const declared = new Map([...claims].map(([id, found]) => [id, chosen(found, live.get(id), applied.get(id))]));
  const waits = reads.map(({ lookAgainMs }) => lookAgainMs);
  const apply: Declaration[] = [];
  for (const [id, declaration] of declared) {
    const inMs = closing.has(declaration.key.namespace)
      ? CLOSING_MS
      : applyInMs(declaration, live.get(id), { applied: applied.get(id), nowMs });
    if (inMs === 0) apply.push(declaration);
    else if (inMs !== undefined) waits.push(inMs);
  }
  const { prune, missingSinceMs } = missing(situation, declared);
  const takenOver = release(situation, declared);
  if (missingSinceMs.size > 0 || takenOver.isWaiting) waits.push(MISSING_MS);
  return {
    declared,
    apply,
    release: takenOver.now,
    prune,
    problems: [...reads.flatMap(({ problems }) => problems), ...duplicates(claims, declared)],
    missingSinceMs,
    lookAgainMs: Math.min(...waits),
  };
}

type Claims = ReadonlyMap<string, readonly Declaration[]>;

function claimsOf(reads: readonly DirectoryRead[]): Claims {
  const claims = new Map<string, Declaration[]>();
  for (const declaration of reads.flatMap(({ declarations }) => declarations)) {
    const others = claims.get(declaration.id);
    if (others) others.push(declaration);
    else claims.set(declaration.id, [declaration]);
  }
  return claims;
}

/** The one that spoke for the object before, so that a copy takes nothing over; else the first by directory, path and place. */
function chosen(claims: readonly Declaration[], live: KindObject | undefined, applied: Applied | undefined): Declaration {
  const before = claims.find(({ fieldManager, file }) => fieldManager === applied?.fieldManager && file === applied.file);
  const found = before ?? claims.find(({ fieldManager }) => live && isAppliedBy(live, fieldManager)) ?? claims[0];
  if (!found) throw new Error('nobody declares it');
  return found;
}

function duplicates(claims: Claims, declared: ReadonlyMap<string, Declaration>): Problem[] {
  return [...claims].flatMap(([id, found]) => {
    const first = declared.get(id);
    return found
      .filter((declaration) => declaration !== first)
      .map(({ file, line, key }) => ({
        reason: 'DuplicateResource' as const,
        message: `${file}:${line}: ${id} is already declared at ${first?.file}:${first?.line}, which stays in force; keep one of them`,
        about: key,
      }));
  });
}

/** Objects that a directory applied and nobody declares any more. */
function missing(situation: Situation, declared: ReadonlyMap<string, Declaration>): Pick<Plan, 'prune' | 'missingSinceMs'> {
  const { reads, live, missingSinceMs: before, nowMs } = situation;
  const prune: Prune[] = [];
  const missingSinceMs = new Map<string, number>();
  for (const [id, object] of live) {
    const from = reads.filter(({ directory }) => isAppliedBy(object, directory.fieldManager));
    const [first] = from;
    const isSpokenOf = declared.has(id) || reads.some(({ mentioned }) => mentioned.has(id));
    if (!first || isSpokenOf || object.metadata.deletionTimestamp !== undefined || !from.every(({ canPrune }) => canPrune)) continue;
    const sinceMs = before.get(id) ?? nowMs;
    if (nowMs - sinceMs >= MISSING_MS) prune.push({ object, path: first.directory.path });
    else missingSinceMs.set(id, sinceMs);
  }
  return { prune, missingSinceMs };
}

/**
 * Only after the new one applied it: what both set must not be gone for a moment. A directory that is no longer followed, or was
 * moved, will never let go by itself, and what it set would stay for ever.
 */
function release(situation: Situation, declared: ReadonlyMap<string, Declaration>): { now: Release[]; isWaiting: boolean } {
  const { reads, live } = situation;
  const readOf = new Map(reads.map((read) => [read.directory.fieldManager, read]));
  const now: Release[] = [];
  let isWaiting = false;
  for (const [id, { fieldManager: speaker }] of declared) {
    const object = live.get(id);
    const former = directoriesThatApplied(object).filter((manager) => manager !== speaker && letsGo(readOf.get(manager), id));
    if (!object || former.length === 0) continue;
    if (isAppliedBy(object, speaker)) now.push(...former.map((fieldManager) => ({ object, fieldManager })));
    else isWaiting = true;
  }
  return { now, isWaiting };
}

function directoriesThatApplied(object: KindObject | undefined): string[] {
  const entries = object?.metadata.managedFields ?? [];
  return entries.filter(({ manager, operation }) => operation === 'Apply' && isDirectory(manager)).map(({ manager }) => manager);
}

function letsGo(read: DirectoryRead | undefined, id: string): boolean {
  return !read || (read.canPrune && !read.mentioned.has(id));
}
