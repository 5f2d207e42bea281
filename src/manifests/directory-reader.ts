/** Looks at one manifest directory: what it declares, what is wrong in it, and whether what is missing from it is really gone. */
import { join } from 'node:path';
import type { Clock } from '#lib/clock.ts';
import { unfinishedCheckout } from './checkout.ts';
import { type ManifestDirectory, whyUnreadable } from './directory.ts';
import type { Document, TextComplaint } from './documents.ts';
import { emptyForMs } from './emptiness.ts';
import { isUpToDate, type KnownFile, nextKnown } from './known-file.ts';
import { aboutPath, type Problem } from './problem.ts';
import { readText } from './read-text.ts';
import { type Listing, nextListing } from './steadiness.ts';
import { readTree, type Tree } from './tree.ts';

export interface Declaration extends Document {
  readonly fieldManager: string;
  readonly file: string;
}

export interface DirectoryRead {
  readonly directory: ManifestDirectory;
  /** By file, then by place in it. */
  readonly declarations: readonly Declaration[];
  /** Objects that files speak of without declaring them rightly: not to be touched. */
  readonly mentioned: ReadonlySet<string>;
  readonly problems: readonly Problem[];
  /** False while anything in it is unknown: what seems missing may be there. */
  readonly canPrune: boolean;
  /** When time alone may change the answer. */
  readonly lookAgainMs: number;
}

/** Why nothing may be pruned, and when to look again. */
interface Hold {
  readonly problem?: Problem;
  readonly lookAgainMs: number;
}

export interface DirectoryReaderOptions {
  readonly directory: ManifestDirectory;
  readonly onFolder: (path: string, identity: string) => void;
  readonly clock: Clock;
}

const UNKNOWN_HINT = 'until it is put right nothing of this directory is deleted';
const RETRY_MS = 2_000;
const CHECKOUT_MS = 100;
/** A check-out takes a moment; one that takes longer than this was left behind, and somebody should know. */
const LONG_CHECKOUT_MS = 30_000;
const MAX_COMPLAINTS = 10;

export class DirectoryReader {
  readonly #options: DirectoryReaderOptions;
  #files = new Map<string, KnownFile>();
  #filledIdentity: string | undefined;
  #emptySinceMs: number | undefined;
  #listing: Listing | undefined;
  #checkoutSinceMs: number | undefined;

  constructor(options: DirectoryReaderOptions) {
    this.#options = options;
  }

  async read(): Promise<DirectoryRead> {
    const { directory, onFolder } = this.#options;
    let tree: Tree;
    try {
      tree = await readTree(directory.path, onFolder);
    } catch (error) {
      this.#listing = nextListing(this.#listing, '', undefined, this.#nowMs());
      // What it said last stays in force: a volume that is gone is no wish to delete.
      const message = `${directory.path} ${whyUnreadable(error)}; everything it declared stays as it is`;
      const problem: Problem = { reason: 'ManifestsUnavailable', message, about: aboutPath(directory.path) };
      return { ...this.#declared(), problems: [problem], canPrune: false, lookAgainMs: RETRY_MS };
    }
    await this.#readFiles(tree);
    return this.#result(tree);
  }

  async #readFiles(tree: Tree): Promise<void> {
    const files = new Map<string, KnownFile>();
    for (const file of tree.files) {
      const known = this.#files.get(file.name);
      files.set(file.name, isUpToDate(known, file) ? known : nextKnown(known, file, await readText(file), this.#nowMs()));
    }
    // A file that became something else still said what it said.
    for (const { name } of [...tree.refused, ...tree.unreadable]) {
      for (const [path, known] of this.#files) if (path === name || path.startsWith(`${name}/`)) files.set(path, { ...known, stamp: '' });
    }
    this.#files = files;
  }

  #result(tree: Tree): DirectoryRead {
    const { directory } = this.#options;
    const problems: Problem[] = [];
    for (const { name, why } of tree.refused) problems.push(this.#problem('ManifestRefused', name, `${why}; ${UNKNOWN_HINT}`));
    for (const { name, why } of tree.unreadable) problems.push(this.#problem('InvalidManifest', name, `${why}; ${UNKNOWN_HINT}`));
    for (const [name, { content }] of this.#files) {
      problems.push(...content.complaints.slice(0, MAX_COMPLAINTS).map((complaint) => this.#complaint(name, complaint, content.isUnknown)));
    }
    const isUnknown =
      tree.refused.length + tree.unreadable.length > 0 || [...this.#files.values()].some(({ content }) => content.isUnknown);
    const holds = [this.#unsteadiness(tree), this.#unfinishedFile(), this.#emptiness(tree), this.#checkout(tree)].flatMap(
      (hold) => hold ?? [],
    );
    return {
      ...this.#declared(),
      directory,
      problems: [...problems, ...holds.flatMap(({ problem }) => problem ?? [])],
      canPrune: !isUnknown && holds.length === 0,
      lookAgainMs: Math.min(...holds.map(({ lookAgainMs }) => lookAgainMs)),
    };
  }

  #declared(): Pick<DirectoryRead, 'directory' | 'declarations' | 'mentioned'> {
    const { directory } = this.#options;
    const { path, fieldManager } = directory;
    const declarations = [...this.#files].flatMap(([name, { documents }]) =>
      documents.map((document) => ({ ...document, fieldManager, file: join(path, name) })),
    );
    return { directory, declarations, mentioned: new Set([...this.#files.values()].flatMap(({ content }) => content.ids)) };
  }

  #unsteadiness({ files, identity }: Tree): Hold | undefined {
    const names = files.map(({ name }) => name).join('\n');
    this.#listing = nextListing(this.#listing, names, identity, this.#nowMs());
    return this.#listing.waitMs > 0 ? { lookAgainMs: this.#listing.waitMs } : undefined;
  }

  #unfinishedFile(): Hold | undefined {
    const waits = [...this.#files.values()].map(({ unfinishedForMs }) => unfinishedForMs).filter((ms) => ms > 0);
    return waits.length > 0 ? { lookAgainMs: Math.min(...waits) } : undefined;
  }

  #emptiness({ identity, files, refused, unreadable }: Tree): Hold | undefined {
    if (files.length + refused.length + unreadable.length > 0) {
      this.#filledIdentity = identity;
      this.#emptySinceMs = undefined;
      return undefined;
    }
    const nowMs = this.#nowMs();
    this.#emptySinceMs ??= nowMs;
    const waitMs = emptyForMs({ sinceMs: this.#emptySinceMs, nowMs, identity, filledIdentity: this.#filledIdentity });
    if (waitMs === 0) return undefined;
    if (Number.isFinite(waitMs)) return { lookAgainMs: waitMs };
    const { path } = this.#options.directory;
    const message = `${path} is empty and not the folder that had manifests; everything they declared stays until it has manifests again, or the daemon is restarted`;
    return { lookAgainMs: RETRY_MS, problem: { reason: 'ManifestsUnavailable', message, about: aboutPath(path) } };
  }

  #checkout({ root }: Tree): Hold | undefined {
    const mark = unfinishedCheckout(root);
    if (mark === undefined) {
      this.#checkoutSinceMs = undefined;
      return undefined;
    }
    this.#checkoutSinceMs ??= this.#nowMs();
    if (this.#nowMs() - this.#checkoutSinceMs < LONG_CHECKOUT_MS) return { lookAgainMs: CHECKOUT_MS };
    const { path } = this.#options.directory;
    const message = `${path}: git has not finished changing the check-out (${mark}); ${UNKNOWN_HINT}`;
    return { lookAgainMs: RETRY_MS, problem: { reason: 'PruneHeld', message, about: aboutPath(path) } };
  }

  #problem(reason: Problem['reason'], name: string, message: string): Problem {
    return { reason, message: `${join(this.#options.directory.path, name)}: ${message}`, about: aboutPath(name) };
  }

  #complaint(name: string, { line, column, message, key }: TextComplaint, isUnknown: boolean): Problem {
    const where = `${join(this.#options.directory.path, name)}:${line}:${column}`;
    const hint = isUnknown ? UNKNOWN_HINT : 'the objects of this file stay as they are';
    return { reason: 'InvalidManifest', message: `${where}: ${message}; ${hint}`, about: key ?? aboutPath(name) };
  }

  #nowMs(): number {
    return this.#options.clock.now().getTime();
  }
}
