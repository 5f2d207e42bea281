/** What does not fit the schema: problems with their paths, and the errors that carry them. */
import { AgentisoError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import type { KindObject } from '../meta.ts';

/** `path` is what messages print: `.spec.members[name="p"]`; empty for the whole object. */
export interface TypedProblem {
  readonly path: string;
  readonly message: string;
}

/** A list item cannot be told apart from the others. Walkers throw it; who calls them knows whose object it was. */
export class ListItemError extends AgentisoError {
  constructor(message: string) {
    super('Internal', message);
  }
}

/**
 * The applied configuration (or, `role` live, the stored object) does not fit the schema. Upstream answers 500 with an empty reason,
 * in every validation mode.
 */
export class TypedPatchError extends AgentisoError {
  readonly problems: readonly TypedProblem[];

  constructor(role: 'patch' | 'live', obj: KindObject, problems: readonly TypedProblem[]) {
    super('Internal', `failed to create typed ${role} object (${describe(obj)}): ${printProblems(problems)}`);
    this.problems = problems;
  }
}

function describe({ apiVersion, kind, metadata }: KindObject): string {
  const { namespace = '', name = '' } = isObject(metadata) ? metadata : {};
  const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return `${namespace}/${name}; ${version}, Kind=${kind}`;
}

function printProblems(problems: readonly TypedProblem[]): string {
  const lines = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return lines.length === 1 ? (lines[0] ?? '') : ['errors:', ...lines.map((line) => `  ${line}`)].join('\n');
}
