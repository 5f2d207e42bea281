/** `agentiso message`: a word from a person to an agent, or to all agents of a team. */
import { shortName } from '#api/types.ts';
import { sendMessage } from '#client/messages.ts';
import { AgentisoError } from '#lib/errors.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT } from '../command.ts';
import { type Address, parseAddress, withSuggestion } from '../messages/address.ts';
import { listAll, teamOf } from '../named.ts';
import { toJson } from '../print/json.ts';
import { UsageError } from '../usage-error.ts';
import { readSource } from '../write/read-source.ts';

/** What people may say; task_assignment is a Task, and what only agents say has no place here. */
const TYPES = ['text', 'task_update', 'request', 'response', 'nudge', 'broadcast', 'shutdown_request'];
const LEAD = 'lead';

export const messageCommand = apiCommand({
  name: 'message',
  args: '<address> <text...>',
  summary: 'send a message to an agent or a team',
  description:
    "The address is TEAM/AGENT, TEAM for whoever leads it, or 'TEAM/*' for everybody (with quotes, for the shell). The text may be several words; - reads it from standard input. It is on disk when the command ends: Accepted. agentiso messages shows when it was delivered and seen.",
  options: [
    { flags: '--type <type>', description: "what kind of message (default: text; for 'TEAM/*' broadcast)", choices: TYPES },
    { flags: '--reply-to <id>', description: 'the message that this one answers' },
    { flags: '-o, --output <format>', description: 'json', choices: ['json'] },
  ],
  async run([word = '', ...words], options, session) {
    const address = parseAddress(word);
    const content = await contentOf(words, session);
    if (address.agent === undefined) await checkLead(address.team, session);
    const receipt = await sent(session, address, { content, type: text(options['type']), replyTo: text(options['replyTo']) });
    const { messageId, accepted, failed } = receipt;
    if (options['output'] === 'json') session.out(toJson(receipt));
    else for (const inbox of accepted) session.out(`${messageId} Accepted for ${inbox}\n`);
    for (const { agent, code, message } of failed) session.err(`error: not for ${agent}: ${code}: ${message}\n`);
    return failed.length === 0 ? EXIT.ok : EXIT.failure;
  },
});

async function contentOf(words: readonly string[], { signal }: Session): Promise<string> {
  const content = words.length === 1 && words[0] === '-' ? String(await readSource('-', signal)) : words.join(' ');
  if (content.trim() === '') throw new UsageError('the message is empty');
  return content;
}

/** Without a lead the people lead the team: what they write to it would come back to them. */
async function checkLead(team: string, session: Session): Promise<void> {
  const agents = (await listAll(session, 'agent')).filter((agent) => teamOf(agent) === team);
  const names = agents.map(({ metadata }) => shortName(team, metadata.name ?? ''));
  if (names.length === 0 || names.includes(LEAD)) return;
  throw new AgentisoError('NotFound', `team ${team} has no agent ${LEAD}, so this would come back to you`, {
    hint: `write to one of ${names
      .slice(0, MOST_NAMED)
      .map((name) => `${team}/${name}`)
      .join(', ')}, or to everybody: '${team}/*'`,
  });
}

const MOST_NAMED = 10;

interface Said {
  readonly content: string;
  readonly type: string | undefined;
  readonly replyTo: string | undefined;
}

async function sent(session: Session, address: Address, said: Said) {
  const { team, agent = LEAD } = address;
  try {
    return await sendMessage(session, { namespace: session.namespace, team, to: agent, ...said });
  } catch (error) {
    throw error instanceof AgentisoError ? await withSuggestion(error, address, session) : error;
  }
}
