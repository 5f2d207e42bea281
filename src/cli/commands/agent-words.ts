/** What people say to an agent as a whole: `stop` and `start`. */

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

async function setState(session: Session, words: readonly string[], desiredState: 'Running' | 'Stopped'): Promise<number> {
  // All names first: a typo in the last one leaves the others as they are.
  const agents = [];
  for (const word of words) agents.push(await findNamed(session, 'agent', word));
  for (const { metadata } of agents) {
    const at = { resource: OURS.agent, namespace: session.namespace, name: metadata.name ?? '' };
    await patchObject(session, at, { type: 'merge', body: { spec: { desiredState } }, fieldManager: 'agentiso' });
    session.out(`agent/${metadata.name} ${desiredState === 'Running' ? 'starts' : 'stops'}\n`);
  }
  return EXIT.ok;
}
