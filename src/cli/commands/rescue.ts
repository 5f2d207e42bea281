/** `agentiso rescue`: work that was not merged when its agent was deleted. */
import { nearest } from '#lib/suggest.ts';
import { apiCommand } from '../api-command.ts';
import { dropRescued, listRescued, showRescued } from '../rescue/actions.ts';
import { restoreRescued } from '../rescue/restore.ts';
import { UsageError } from '../usage-error.ts';

const ACTIONS = ['list', 'show', 'restore', 'drop'];
const OTHER_WORDS: Readonly<Record<string, string>> = {
  ls: 'list',
  get: 'list',
  describe: 'show',
  cat: 'show',
  rm: 'drop',
  delete: 'drop',
};

export const rescueCommand = apiCommand({
  name: 'rescue',
  args: '<action> [id]',
  summary: 'work that was not merged when its agent was deleted: list, show, restore, drop',
  description:
    'Before a workspace goes, everything in it that is not merged and not ignored is kept in the repository of its team, for as long as nobody drops it. list shows all of it, of all namespaces. restore makes the branch rescue/<agent> in the git repository given by --into, which is made if it is not there. An ID may be shortened.',
  options: [
    { flags: '--into <dir>', description: 'restore: a git repository, or a folder that becomes one' },
    { flags: '--yes', description: 'drop: yes, it is not needed any more' },
    { flags: '-o, --output <format>', description: 'list and show: json', choices: ['json'] },
  ],
  async run([action = '', id, ...more], options, session) {
    if (more.length > 0) throw new UsageError(`one at a time: agentiso rescue ${action} ${id}`);
    switch (action) {
      case 'list':
        return listRescued(options, session);
      case 'show':
        return showRescued(needed(action, id), options, session);
      case 'restore':
        return restoreRescued(needed(action, id), options, session);
      case 'drop':
        return dropRescued(needed(action, id), options, session);
      default:
        throw unknownAction(action);
    }
  },
});

function needed(action: string, id: string | undefined): string {
  if (id !== undefined && /^[0-9A-Za-z-]+$/.test(id)) return id;
  throw new UsageError(`which one? agentiso rescue ${action} ID; agentiso rescue list shows them`);
}

function unknownAction(action: string): UsageError {
  const meant = OTHER_WORDS[action] ?? nearest(action, ACTIONS);
  return new UsageError(`unknown action "${action}"; ${meant ? `did you mean ${meant}?` : `expected ${ACTIONS.join(', ')}`}`);
}
