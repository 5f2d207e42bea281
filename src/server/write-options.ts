/** What a write asks for besides the object: dry run, manager, how strict. Checked before anything is read. */
import { managerNameProblem } from '#api/fields/manager-name.ts';
import type { Call } from './call.ts';
import { flag, invalidOptions, text } from './params.ts';
import type { StatusCause } from './status.ts';

export interface WriteAsked {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  readonly force: boolean;
}

const VALIDATIONS = ['Ignore', 'Warn', 'Strict'] as const;

export function writeAsked(
  { query, headers }: Call,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  isApply = false,
): WriteAsked {
  const causes: StatusCause[] = [];
  const dryRuns = query.getAll('dryRun');
  const fieldManager = text(query, 'fieldManager');
  const fieldValidation = text(query, 'fieldValidation') ?? 'Warn';
  if (kind === 'PatchOptions') causes.push(...applyProblems(query, fieldManager, isApply));
  if (fieldManager !== undefined) {
    const problem = managerNameProblem(fieldManager);
    if (problem)
      causes.push({
        reason: problem.startsWith('Too long') ? 'FieldValueTooLong' : 'FieldValueInvalid',
        message: problem,
        field: 'fieldManager',
      });
  }
  if (dryRuns.some((value) => value !== 'All')) causes.push(dryRunProblem(dryRuns));
  if (!isValidation(fieldValidation)) {
    const supported = ['', ...VALIDATIONS]
      .map((word) => JSON.stringify(word))
      .sort()
      .join(', ');
    causes.push({
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${JSON.stringify(fieldValidation)}: supported values: ${supported}`,
      field: 'fieldValidation',
    });
  }
  if (causes.length > 0) throw invalidOptions(kind, causes);
  return {
    dryRun: dryRuns.length > 0,
    fieldManager: fieldManager ?? managerOf(headers['user-agent']),
    fieldValidation: fieldValidation as WriteAsked['fieldValidation'],
    force: flag(query, 'force'),
  };
}

function applyProblems(query: URLSearchParams, fieldManager: string | undefined, isApply: boolean): StatusCause[] {
  if (isApply) {
    if (fieldManager !== undefined) return [];
    return [{ reason: 'FieldValueRequired', message: 'Required value: is required for apply patch', field: 'fieldManager' }];
  }
  if (!query.has('force')) return [];
  return [{ reason: 'FieldValueForbidden', message: 'Forbidden: may not be specified for non-apply patch', field: 'force' }];
}

function isValidation(word: string): word is WriteAsked['fieldValidation'] {
  return (VALIDATIONS as readonly string[]).includes(word);
}

export function dryRunProblem(values: readonly string[]): StatusCause {
  return {
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`,
    field: 'dryRun',
  };
}

/** `kubectl/v1.34.0 (linux/amd64)` → kubectl. */
function managerOf(userAgent = ''): string {
  if (userAgent !== last.userAgent) last = { userAgent, manager: managerIn(userAgent) };
  return last.manager;
}

/** One client often sends many requests in a row. */
let last = { userAgent: '', manager: 'unknown' };

function managerIn(userAgent: string): string {
  const name = userAgent
    .split('/')[0]
    ?.replace(/[^\x20-\x7e]/g, '')
    .slice(0, 128);
  return name || 'unknown';
}
