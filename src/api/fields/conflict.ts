/** Another manager owns what an apply would change: the error, in upstream's words. */
import { ConflictError } from '#lib/errors.ts';
import type { ManagedFieldsEntry } from '../meta.ts';
import { identityOf } from './manager-entry.ts';
import { compareTexts } from './managers.ts';
import { printPath } from './path-element.ts';

export interface FieldConflict {
  readonly owner: ManagedFieldsEntry;
  readonly path: readonly string[];
}

export interface ConflictCause {
  readonly message: string;
  readonly field: string;
}

export class FieldConflictError extends ConflictError {
  readonly conflicts: readonly FieldConflict[];
  readonly causes: readonly ConflictCause[];

  constructor(conflicts: readonly FieldConflict[]) {
    const sorted = [...conflicts].sort((a, b) => compareTexts(identityOf(a.owner), identityOf(b.owner)));
    super(conflictMessage(sorted));
    this.conflicts = sorted;
    this.causes = sorted.map(({ owner, path }) => ({ message: `conflict with ${printOwner(owner)}`, field: printPath(path) }));
  }
}

function conflictMessage(conflicts: readonly FieldConflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${printOwner(first.owner)}: ${printPath(first.path)}`;
  }
  const lines: string[] = [];
  let owner = '';
  for (const conflict of conflicts) {
    const id = identityOf(conflict.owner);
    if (id !== owner) lines.push(`conflicts with ${printOwner(conflict.owner)}:`);
    owner = id;
    lines.push(`- ${printPath(conflict.path)}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

function printOwner({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string {
  const part = subresource ? ` with subresource ${JSON.stringify(subresource)}` : '';
  return `${JSON.stringify(manager)}${part}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
