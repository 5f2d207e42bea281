/** Who may see and change what. Asked of the place where a file really is, never of a link to it. Pure. */
import { AgentisoError, NotFoundError } from '#lib/errors.ts';
import { isAtOrBelow, isGenerated, nameOf, segmentsOf, teamFolder, teamPlaceOf } from './paths.ts';
import type { VaultScope } from './vault.ts';

/** Other teams are not there. The folders above one's own are, but only with what leads to it. */
export function canSee(scope: VaultScope, path: string): boolean {
  if (scope === 'everything') return true;
  const [first] = segmentsOf(path);
  if (first !== 'teams' && first !== 'namespaces') return true;
  const own = teamFolder(scope.namespace, scope.team);
  return isAtOrBelow(path, own) || isAtOrBelow(own, path);
}

/** In the same words as for a note that does not exist. */
export function checkVisible(scope: VaultScope, path: string): void {
  if (!canSee(scope, path)) throw noSuchNote(path);
}

export function noSuchNote(path: string): NotFoundError {
  return new NotFoundError(`there is no note ${path}`);
}

export function checkWritable(scope: VaultScope, path: string): void {
  if (scope !== 'everything') {
    const notes = `${teamFolder(scope.namespace, scope.team)}/notes`;
    if (isAtOrBelow(path, notes)) return;
    const why = isGenerated(path) && canSee(scope, path) ? `${path} is generated` : `${path} is not yours to write`;
    throw new AgentisoError('Forbidden', why, { hint: `write below ${notes}/` });
  }
  if (isGenerated(path)) throw new AgentisoError('Forbidden', `${path} is generated`, { hint: commandFor(path) });
}

/** What does to the object what was tried on the file. */
function commandFor(path: string): string {
  const { namespace, team, rest } = teamPlaceOf(path) ?? { namespace: 'default', team: '', rest: '' };
  const options = namespace === 'default' ? '' : ` -n ${namespace}`;
  const name = nameOf(path).replace(/\.(md|json)$/, '');
  const isOfTask = rest.startsWith('tasks/') && name !== 'INDEX';
  return isOfTask
    ? `change the Task it shows: agentiso edit task ${team}-${name}${options}`
    : `change the Team it shows: agentiso edit team ${team}${options}`;
}
