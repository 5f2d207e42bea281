/** `agentiso messages`: what was said in a team, by whom to whom, and how far it has come. */
import { type FiledMessage, followMessages, type MessageFilter, readMessages } from '#client/messages.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { type Address, checkAddress, parseAddress } from '../messages/address.ts';
import { firstSight } from '../messages/first-sight.ts';
import { limitOf } from '../messages/limit.ts';
import { messageTable } from '../messages/table.ts';
import { toJson } from '../print/json.ts';

export const messagesCommand = apiCommand({
  name: 'messages',
  args: '[address]',
  summary: 'show what agents and people said to each other',
  description:
    'Shows the messages of the namespace, of a TEAM, or from and to one TEAM/AGENT, the newest last, each with how far it is: Accepted (on disk), Delivered (with the agent), Seen, or DeadLetter (given up). To look changes nothing. -f then shows what comes.',
  options: [
    { flags: '-f, --follow', description: 'then print every new message' },
    { flags: '--limit <number>', description: 'only so many of the newest, 1 to 1000', default: '100' },
    { flags: '--type <type>', description: 'only this kind: text, request, …' },
    { flags: '--from <name>', description: 'only from this sender' },
    { flags: '--unseen', description: 'only what its recipient has not seen' },
    { flags: '-o, --output <format>', description: 'wide or json', choices: ['wide', 'json'] },
    { flags: '--no-headers', description: 'without the line of headers' },
  ],
  async run([word], options, session) {
    const address = word === undefined ? undefined : parseAddress(word);
    if (address) await checkAddress(address, session);
    const filter = {
      namespace: session.namespace,
      team: address?.team,
      type: text(options['type']),
      from: text(options['from']),
      unseen: options['unseen'] === true || undefined,
      limit: limitOf(options['limit']),
    };
    return options['follow'] === true ? follow(session, filter, { address, options }) : show(session, filter, { address, options });
  },
});

interface Asked {
  readonly address: Address | undefined;
  readonly options: OptionValues;
}

async function show(session: Session, filter: MessageFilter, { address, options }: Asked): Promise<number> {
  const items = await read(session, filter, address?.agent);
  if (options['output'] === 'json') session.out(toJson({ items }));
  else if (items.length > 0) session.out(tableOf(session, { address, options })(items, new Date()));
  else session.err(`No messages found in ${address ? `team ${address.team}` : `${session.namespace} namespace`}.\n`);
  return EXIT.ok;
}

/** From an agent and to it are two questions. */
async function read(session: Session, filter: MessageFilter, agent: string | undefined): Promise<readonly FiledMessage[]> {
  if (agent === undefined) return readMessages(session, filter);
  const asked = filter.from === undefined || filter.from === agent ? [{ ...filter, from: agent }] : [];
  const found = await Promise.all([...asked, { ...filter, inbox: agent }].map((each) => readMessages(session, each)));
  const byCopy = new Map(found.flat().map((filed) => [`${filed.message.message_id} ${filed.inbox}`, filed]));
  // Identifiers of messages begin with their time.
  const sorted = [...byCopy].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, filed]) => filed);
  return sorted.slice(-(filter.limit ?? sorted.length));
}

async function follow(session: Session, filter: MessageFilter, { address, options }: Asked): Promise<number> {
  const isJson = options['output'] === 'json';
  const print = tableOf(session, { address, options });
  const isNews = firstSight();
  for await (const filed of followMessages(session, filter)) {
    if (address?.agent !== undefined && !concerns(filed, address.agent)) continue;
    // Programs want every state; people want to hear of a message once.
    if (isJson) session.out(`${JSON.stringify(filed)}\n`);
    else if (isNews(filed)) session.out(print([filed], new Date()));
  }
  return session.signal.aborted ? EXIT.interrupted : EXIT.ok;
}

function concerns({ message, inbox }: FiledMessage, agent: string): boolean {
  return message.from === agent || inbox.endsWith(`/${agent}`);
}

function tableOf({ environment }: Session, { address, options }: Asked) {
  return messageTable({
    isWide: options['output'] === 'wide',
    withTeam: address === undefined,
    withHeaders: options['headers'] !== false,
    columns: environment?.isTerminal === true ? environment.columns : undefined,
  });
}
