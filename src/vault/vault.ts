/** The contract of the vault: shared notes as Markdown files, `HOME/vault`. One store for all callers; every write is whole or not there. */

/** What the caller may see and change; `everything` for operators and controllers. */
export type VaultScope = 'everything' | { readonly namespace: string; readonly team: string };

export interface Note {
  /** Where it really is, links resolved. */
  readonly path: string;
  readonly content: string;
  /** Follows from the content; give it back as `ifVersion`. */
  readonly version: string;
  /** Empty where there is none that can be read. */
  readonly frontmatter: Readonly<Record<string, unknown>>;
}

export interface VaultEntry {
  /** A folder's ends in `/`. */
  readonly path: string;
  /** In bytes; 0 for a folder. */
  readonly size: number;
  readonly modified: string;
}

export interface VaultHit {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
  /** The line with up to two on each side. */
  readonly context: readonly string[];
}

export interface SearchQuery {
  /** Text in whatever case, or a regular expression as it is written; looked for in each line. May be empty beside a tag. */
  readonly pattern: string;
  readonly isRegex?: boolean;
  /** A folder or a note; everything when absent. */
  readonly path?: string;
  /** Only notes whose frontmatter has this tag. */
  readonly tag?: string;
  /** 20 when absent, at most 100. */
  readonly limit?: number;
}

/** A path in a team's folder: `tasks/INDEX.md`. */
export interface GeneratedPath {
  readonly namespace: string;
  readonly team: string;
  readonly path: string;
}

/**
 * Refusals are AgentisoErrors: NotFound, Invalid, Forbidden, TooLarge, Conflict (a stale version), Timeout (a slow pattern), RateLimited (too
 * many patterns at once), IoError.
 */
export interface Vault {
  read(scope: VaultScope, path: string): Promise<Note>;
  /** Append and prepend begin a line of their own; prepend goes below the frontmatter. */
  write(
    scope: VaultScope,
    path: string,
    content: string,
    options?: { readonly mode?: 'overwrite' | 'append' | 'prepend'; readonly ifVersion?: string },
  ): Promise<{ readonly path: string; readonly version: string }>;
  remove(scope: VaultScope, path: string): Promise<void>;
  /** Resolves when following has begun; then one item whenever the note comes, changes or goes, until the signal aborts. */
  follow(scope: VaultScope, path: string, signal: AbortSignal): Promise<AsyncIterable<void>>;
  search(
    scope: VaultScope,
    query: SearchQuery,
    signal?: AbortSignal,
  ): Promise<{ readonly hits: readonly VaultHit[]; readonly isCut: boolean }>;
  /** Folders are entries only where their contents are not: without `recursive`. At most 1,000. */
  list(
    scope: VaultScope,
    options?: { readonly path?: string; readonly recursive?: boolean },
  ): Promise<{ readonly entries: readonly VaultEntry[]; readonly isCut: boolean }>;
  /** The folders of a team; removed with everything in them by `removeTeam`. */
  ensureTeam(namespace: string, team: string): Promise<void>;
  removeTeam(namespace: string, team: string): Promise<void>;
  /** A file that agentiso derives from objects. False: it already has this content. `path` is relative to the team's folder. */
  writeGenerated(namespace: string, team: string, path: string, content: string): Promise<boolean>;
  removeGenerated(namespace: string, team: string, path: string): Promise<void>;
  /** The paths in one of the team's folders, `tasks` or `cards`, whoever made them. */
  generatedIn(namespace: string, team: string, folder: string): Promise<string[]>;
  /** A generated file that somebody else has changed or removed since. Told again for as long as it is not as it was written. */
  onForeignChange(listener: (change: GeneratedPath) => void): () => void;
  close(): Promise<void>;
}
