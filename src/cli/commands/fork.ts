/** `agentiso fork`: more agents that begin as one is. */
import { MAX_FORKS, USUAL_PREFIX } from '#client/snapshots.ts';
import { apiCommand, text } from '../api-command.ts';
import { forkNamed } from '../snapshots/actions.ts';
import { UsageError } from '../usage-error.ts';

export const forkCommand = apiCommand({
  name: 'fork',
  args: '<agent>',
  summary: 'make agents that begin as copies of one',
  description:
    'Makes agents of the same team, within its budget, whose files are those of AGENT now or at a snapshot: with its role, resources, backend and rules, and a git branch of their own that begins where AGENT is. They are called PREFIX-1 to PREFIX-COUNT; one that cannot be made is named, the others are made all the same.',
  options: [
    { flags: '--count <n>', description: `how many, 1 to ${MAX_FORKS}`, default: '1' },
    { flags: '--prefix <name>', description: 'how their names begin', default: USUAL_PREFIX },
    { flags: '--snapshot <name>', description: 'a snapshot of the agent; by default it is as it is now' },
  ],
  run([agent = ''], options, session) {
    const count = Number(options['count']);
    if (!Number.isInteger(count) || count < 1 || count > MAX_FORKS) {
      throw new UsageError(`--count ${String(options['count'])}: give a whole number from 1 to ${MAX_FORKS}`);
    }
    return forkNamed(agent, { count, prefix: text(options['prefix']) ?? USUAL_PREFIX, snapshot: text(options['snapshot']) }, session);
  },
});
