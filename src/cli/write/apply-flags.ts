/** The options that `apply` and `diff` share, and what they come to. */

import type { ApplyOptions } from '#client/write/apply-set.ts';
import { FIELD_MANAGERS } from '#client/write/field-managers.ts';
import type { Option, OptionValues } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { fieldValidationOf } from './flags.ts';

export const APPLY_OPTIONS: readonly Option[] = [
  { flags: '--server-side', description: 'let the server merge, and remember who set which field' },
  { flags: '--force-conflicts', description: 'with --server-side: take fields that others own' },
  {
    flags: '--field-manager <name>',
    description: `who is noted as the owner of the fields (default: ${FIELD_MANAGERS.apply}, with --server-side ${FIELD_MANAGERS.serverSideApply})`,
  },
];

export function applyOptionsOf(options: OptionValues, isDryRun: boolean): ApplyOptions {
  const isServerSide = options['serverSide'] === true;
  const isForced = options['forceConflicts'] === true;
  if (isForced && !isServerSide) throw new UsageError('--force-conflicts only works with --server-side');
  const manager = isServerSide ? FIELD_MANAGERS.serverSideApply : FIELD_MANAGERS.apply;
  const given = options['fieldManager'];
  return {
    isServerSide,
    isForced,
    isDryRun,
    isPartOfSet: true,
    fieldManager: typeof given === 'string' ? given : manager,
    fieldValidation: fieldValidationOf(options),
  };
}
