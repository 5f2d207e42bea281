/** What people say to an agent as a whole: `stop` and `start`, `suspend` and `resume`. */

import { patchObject } from '#client/write/requests.ts';
import { apiCommand, type Session } from '../api-command.ts';
import { EXIT } from '../command.ts';
import { findNamed, OURS } from '../named.ts';

export const stopCommand = apiCommand({
  name: 'stop',
  args: '<agents...>',
  summary: 'let agents end and stay ended',
  description:
    'An agent is asked to end, has the grace period of its team for that, and stays ended until agentiso start. Its files stay. AGENT is a name, agent/NAME or TEAM/NAME.',
  run: (words, _options, session) => setState(session, words, 'Stopped'),
});

export const startCommand = apiCommand({
  name: 'start',
  args: '<agents...>',
  summary: 'start agents that were stopped',
  run: (words, _options, session) => setState(session, words, 'Running'),
});

export const suspendCommand = apiCommand({
  name: 'suspend',
  args: '<agents...>',
  summary: 'hold agents still, with all that is in their memory',
  description:
    'An agent that works on a task is not suspended. Messages wait. agentiso resume lets it go on where it was, as the same run. Not for agents of the process driver. AGENT is a name, agent/NAME or TEAM/NAME.',
  run: (words, _options, session) => setState(session, words, 'Suspended'),
});

export const resumeCommand = apiCommand({
  name: 'resume',
  args: '<agents...>',
  summary: 'let suspended agents go on where they were',
  run: (words, _options, session) => setState(session, words, 'Running', 'resumes'),
});

type State = 'Running' | 'Stopped' | 'Suspended';
const SAYS: Readonly<Record<State, string>> = { Running: 'starts', Stopped: 'stops', Suspended: 'is suspended' };

async function setState(session: Session, words: readonly string[], desiredState: State, says = SAYS[desiredState]): Promise<number> {
  // All names first: a typo in the last one leaves the others as they are.
  const agents = [];
  for (const word of words) agents.push(await findNamed(session, 'agent', word));
  for (const { metadata } of agents) {
    const at = { resource: OURS.agent, namespace: session.namespace, name: metadata.name ?? '' };
    await patchObject(session, at, { type: 'merge', body: { spec: { desiredState } }, fieldManager: 'agentiso' });
    session.out(`agent/${metadata.name} ${says}\n`);
  }
  return EXIT.ok;
}
