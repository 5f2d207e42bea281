/** What the radar needs from the rest of the daemon. */
import type { Client } from '#client/client.ts';
import type { TeamRepositories } from '#git/team-repository.ts';
import type { Notices } from '#relay/notices.ts';

export interface Clash {
  readonly between: readonly [string, string];
  readonly files: readonly { readonly path: string; readonly kind: string }[];
}

/** Tries pairs of commits, each pair once. */
export interface Radar {
  /** Name → commit; the pairs that `name` is in and that do not fit. */
  lookAt(
    name: string,
    heads: ReadonlyMap<string, string>,
    repository: { readonly directory: string; readonly signal?: AbortSignal },
  ): Promise<readonly Clash[]>;
}

export interface RadarDeps {
  readonly client: Client;
  readonly repositories: TeamRepositories;
  readonly notices: Notices;
  readonly radar: Radar;
}
