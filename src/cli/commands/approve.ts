/** `approve`: the plan of a task, or a merge that waits for somebody who wrote none of it. */
import { approveMerge } from '#client/merges.ts';
import { getJson, type ResourceName, resourcePath } from '#client/resource-api.ts';
import { isObject } from '#lib/json.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { type Command, EXIT } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { approveCommand as approveTask } from './task-words.ts';

const MERGE: ResourceName = { group: 'agentiso.dev', version: 'v1alpha1', plural: 'merges', isNamespaced: true };
const WORDS = ['merge', 'merges', 'mg'];

const approveMergeCommand = apiCommand({
  name: 'approve',
  args: '<task>',
  summary: 'approve the plan of a task, or a merge',
  description:
    'Approves the plan that an agent has submitted for a task; the work starts. agentiso inbox shows plans that wait for you. With merge/NAME: lets the merged commit of a Merge land that has approval: Required; it counts for this commit and for no other.',
  options: [
    { flags: '--feedback <text>', description: 'a word for the agent' },
    { flags: '--commit <id>', description: 'of a merge: the commit you have looked at; by default the one it has now' },
  ],
  run: ([word = ''], options, session) => approve(session, nameOf(word) ?? '', text(options['commit'])),
});

export const approveCommand: Command = {
  ...approveMergeCommand,
  run(words, options, context) {
    if (nameOf(words[0] ?? '') !== undefined) return approveMergeCommand.run(words, options, context);
    if (options['commit'] !== undefined) throw new UsageError('--commit is for merges; give merge/NAME');
    return approveTask.run(words, options, context);
  },
};

/** Of a merge; undefined for a task. */
function nameOf(word: string): string | undefined {
  const [kind = '', name = ''] = word.split('/');
  return WORDS.includes(kind) ? name : undefined;
}

async function approve(session: Session, name: string, commit: string | undefined): Promise<number> {
  if (name === '') throw new UsageError('give the name of a merge: merge/NAME');
  const seen = commit ?? (await candidateOf(session, name));
  const approval = await approveMerge(session, { namespace: session.namespace, name, commit: seen });
  session.out(`approved: merge/${name} at ${approval.commit.slice(0, 12)}\n`);
  return EXIT.ok;
}

/** Named with the approval: if the merge is at another one when that arrives, it does not count. */
async function candidateOf({ connection, namespace, signal }: Session, name: string): Promise<string | undefined> {
  const { status } = await getJson<{ status?: unknown }>(connection, resourcePath(MERGE, { namespace, name }), { signal });
  return isObject(status) && typeof status['candidate'] === 'string' ? status['candidate'] : undefined;
}
