/** The golden snapshot of a team, which its members begin with: how it is called, and what of spec.golden cannot be. Pure. */
import { createHash } from 'node:crypto';
import type { FieldProblem } from '#lib/errors.ts';
import { formatPath } from '#lib/json.ts';
import { snapshotName } from './snapshots.ts';
import type { Agent, Snapshot, Team } from './types.ts';

/** Of the team's own making. */
export interface PreparedGolden {
  readonly name: string;
  /** Of spec.golden: another one, another snapshot. */
  readonly hash: string;
}

const HASH_LENGTH = 8;
const MAX_NAME = 63;

/** Undefined: the team has none, or takes that of somebody else. */
export function preparedGolden({ metadata, spec: { golden } }: Team): PreparedGolden | undefined {
  if (golden === undefined || golden.from != null) return undefined;
  const { image, gitUrl, setupCommands = [], snapshot, allowInternet } = golden;
  const text = JSON.stringify([image, gitUrl ?? null, setupCommands, snapshot, allowInternet]);
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
  return { name: `${metadata.name}-${snapshot}-${hash}`, hash };
}

/** The Snapshot that new members begin with, as far as it is there. `find` is asked for names in the namespace of the team. */
export function goldenOf(team: Team, find: (name: string) => Snapshot | undefined): Snapshot | undefined {
  const prepared = preparedGolden(team);
  if (prepared) {
    const found = find(prepared.name);
    return found?.spec.golden === prepared.hash && found.spec.team === team.metadata.name ? found : undefined;
  }
  const { from, snapshot = '' } = team.spec.golden ?? {};
  const [owner = '', agent = ''] = from?.split('/') ?? [];
  // An agent may be given by its short name or by the whole one.
  for (const full of [`${owner}-${agent}`, agent]) {
    const found = find(snapshotName(full, snapshot));
    if (found?.spec.agent === full && found.spec.team === owner) return found;
  }
  return undefined;
}

/** It has no files of its own yet, and begins with those of its team's golden snapshot, if there is one. */
export function beginsGolden({ metadata, spec, status }: Agent): boolean {
  const isNew = status?.source === undefined && status?.incarnation === undefined;
  return isNew && spec.source === undefined && metadata.deletionTimestamp === undefined;
}

/** What no schema can say. */
export function goldenProblems(team: Team): FieldProblem[] {
  const { golden } = team.spec;
  if (golden === undefined) return [];
  return golden.from == null ? preparationProblems(team, golden) : borrowedProblems(golden);
}

type Golden = NonNullable<Team['spec']['golden']>;

function borrowedProblems({ gitUrl, setupCommands = [] }: Golden): FieldProblem[] {
  const given = [...(gitUrl != null ? ['gitUrl'] : []), ...(setupCommands.length > 0 ? ['setupCommands'] : [])];
  return given.map((field) => problem(field, 'Invalid value: with from nothing is prepared; leave from or this field out'));
}

function preparationProblems({ metadata, spec: { repo } }: Team, { gitUrl, snapshot }: Golden): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (gitUrl != null && (repo?.path != null || repo?.url != null)) {
    const why = 'the repository of spec.repo is in the workspace already; leave one of them out';
    problems.push(problem('gitUrl', `Invalid value: ${JSON.stringify(gitUrl)}: ${why}`));
  }
  if (metadata.name.length + snapshot.length + HASH_LENGTH + 2 > MAX_NAME) {
    const why = `the Snapshot would get a name over ${MAX_NAME} characters; shorten this or the team's name, it is named <team>-<snapshot>-<hash>`;
    problems.push(problem('snapshot', `Invalid value: ${JSON.stringify(snapshot)}: ${why}`));
  }
  return problems;
}

function problem(field: string, message: string): FieldProblem {
  const segments = ['spec', 'golden', field];
  return { path: formatPath(segments), segments, kind: 'Invalid', message };
}
