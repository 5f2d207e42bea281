/** `agentiso snapshot`: the files of an agent as they were at one moment. */
import { nearest } from '#lib/suggest.ts';
import { apiCommand } from '../api-command.ts';
import { createSnapshot, listSnapshots, removeSnapshot, restoreSnapshot } from '../snapshots/actions.ts';
import { UsageError } from '../usage-error.ts';

const ACTIONS = ['create', 'list', 'restore', 'delete'];
const OTHER_WORDS: Readonly<Record<string, string>> = {
  ls: 'list',
  get: 'list',
  take: 'create',
  save: 'create',
  rm: 'delete',
  rollback: 'restore',
};

export const snapshotCommand = apiCommand({
  name: 'snapshot',
  args: '<action> [agent] [name]',
  summary: 'the files of an agent as they were: create, list, restore, delete',
  description:
    'create keeps all files of AGENT as they are now, at most 20 times per agent; what runs stands still for that moment. restore ends the agent, puts the files back and starts it again; what it has written since is gone, but for what its team has of it in git. Newer snapshots stay. delete takes any of them, in any order. A snapshot is the object snapshot/AGENT-NAME; NAME is enough here.',
  async run([action = '', agent, name, ...more], _options, session) {
    if (more.length > 0) throw new UsageError(`one at a time: agentiso snapshot ${action} ${agent} ${name}`);
    switch (action) {
      case 'list':
        return listSnapshots(agent, session);
      case 'create':
        return createSnapshot(needed(action, agent, name), session);
      case 'restore':
        return restoreSnapshot(needed(action, agent, name), session);
      case 'delete':
        return removeSnapshot(needed(action, agent, name), session);
      default:
        throw unknownAction(action);
    }
  },
});

function needed(action: string, agent: string | undefined, name: string | undefined): { readonly agent: string; readonly name: string } {
  if (agent !== undefined && name !== undefined) return { agent, name };
  throw new UsageError(`which one? agentiso snapshot ${action} AGENT NAME`);
}

function unknownAction(action: string): UsageError {
  const meant = OTHER_WORDS[action] ?? nearest(action, ACTIONS);
  return new UsageError(`unknown action "${action}"; ${meant ? `did you mean ${meant}?` : `expected ${ACTIONS.join(', ')}`}`);
}
