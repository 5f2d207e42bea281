/** `agentiso attach`: what an agent's own process says from now on. */
import { apiCommand, text } from '../api-command.ts';
import { execIn } from '../streams/exec.ts';
import { meantBy } from '../streams/pod.ts';
import { standardStreams } from '../streams/standard.ts';
import { endsOf, exitCodeOf } from './exec.ts';

export const attachCommand = apiCommand({
  name: 'attach',
  args: '<agent>',
  summary: 'show what an agent says, from now on',
  description: 'Shows the output of an agent as it comes, until the agent ends or Ctrl-C. agentiso logs also shows what it said before.',
  options: [{ flags: '-c, --container <name>', description: 'container of the pod; agents have one, named agent' }],
  async run([word = ''], options, session) {
    const ending = await execIn(session, {
      pod: { namespace: session.namespace, name: meantBy(word).name },
      container: text(options['container']),
      ends: endsOf(standardStreams(), { isTerminal: false, hasStdin: false }),
    });
    return exitCodeOf(ending, session, false);
  },
});
