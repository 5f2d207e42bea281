/** Sending and reading messages. */
import type { Envelope } from '#protocol/relay.ts';
import type { Arguments } from './arguments.ts';
import { type Command, type Context, FAILED, OK, type Result, show, textFrom } from './command.ts';
import { line, messageText } from './print.ts';

const DEFAULT_WAIT_SECONDS = 30;
/** What is answered to a shutdown_request, as metadata.accepted says it. */
const STOP_ANSWERS: Readonly<Record<string, string>> = { accept: 'true', defer: 'deferred', refuse: 'false' };

const send: Command = {
  usage: 'TO TEXT... [--type TYPE] [--reply-to ID] [--request ID]',
  options: { type: 'text', 'reply-to': 'text', request: 'text' },
  run: async (args, context) => {
    const to = args.word(0, 'TO, the name of an agent, lead, orchestrator or *,');
    const content = await textFrom(args, context, 1);
    const named = { message_type: args.text('type'), reply_to: args.text('reply-to'), request_id: args.text('request') };
    return deliver(args, context, { to, content, ...named });
  },
};

const status: Command = {
  usage: 'TEXT...',
  run: async (args, context) =>
    deliver(args, context, { to: 'lead', content: await textFrom(args, context, 0), message_type: 'status_update' }),
};

const stop: Command = {
  usage: 'accept|defer|refuse [REASON...]',
  run: async (args, context) => {
    const word = args.word(0, 'accept, defer or refuse');
    const accepted = Object.hasOwn(STOP_ANSWERS, word) ? STOP_ANSWERS[word] : args.misused(`${JSON.stringify(word)} is no answer`);
    const reason = args.words.slice(1).join(' ');
    const metadata = { accepted, ...(reason !== '' && { reason }) };
    return deliver(args, context, { to: 'lead', content: reason || word, message_type: 'shutdown_response', metadata });
  },
};

interface Message {
  readonly to: string;
  readonly content: string;
  readonly message_type?: string | undefined;
  readonly reply_to?: string | undefined;
  readonly request_id?: string | undefined;
  readonly metadata?: Readonly<Record<string, string | undefined>>;
}

/** Copies that were not accepted are told: the others are sent, so it is no failure. */
async function deliver(args: Arguments, context: Context, message: Message): Promise<number> {
  const result = await context.ask('sendMessage', message);
  const failed: { readonly agent: string; readonly message: string }[] = result.failed ?? [];
  for (const each of failed) context.complain(`not accepted for ${line(each.agent)}: ${line(each.message)}`);
  show(args, context, result, () => `${result.message_id} ${result.delivered === true ? 'delivered' : 'accepted'}\n`);
  return OK;
}

const inbox: Command = {
  usage: '[--from NAME] [--limit 10] [--keep] [--text]',
  options: { from: 'text', limit: 'number', keep: 'flag', text: 'flag' },
  run: async (args, context) => {
    args.only(0);
    // Kept until it is printed: whoever else asks for something meanwhile proves nothing about this program.
    const result = await context.ask('checkMessages', { from: args.text('from'), limit: args.number('limit'), keep: true });
    const messages: readonly Envelope[] = result.messages;
    show(args, context, result, () => messages.map((message) => readable(args, message)).join(''));
    if (!args.flag('keep')) await acknowledge(context, messages);
    reportRest(args, context, result);
    return OK;
  },
};

function reportRest(args: Arguments, context: Context, { unacked, messages }: Result): void {
  const rest = unacked - messages.length;
  if (rest > 0 && !args.flag('json') && args.text('from') === undefined) context.complain(`${rest} more: run it again`);
}

const wait: Command = {
  usage: '[--from NAME] [--type TYPE] [--request ID] [--timeout 30] [--ack] [--text]',
  options: { from: 'text', type: 'text', request: 'text', timeout: 'number', ack: 'flag', text: 'flag' },
  run: async (args, context) => {
    args.only(0);
    const seconds = args.number('timeout') ?? DEFAULT_WAIT_SECONDS;
    const wanted = { from: args.text('from'), message_type: args.text('type'), request_id: args.text('request') };
    const result = await context.ask('waitForMessage', { ...wanted, timeout_seconds: seconds });
    const message: Envelope | null = result.message;
    if (message === null) {
      if (args.flag('json')) context.print(`${JSON.stringify(result)}\n`);
      else context.complain(`no message within ${seconds} s`);
      return FAILED;
    }
    show(args, context, result, () => readable(args, message));
    if (args.flag('ack')) await acknowledge(context, [message]);
    return OK;
  },
};

function readable(args: Arguments, message: Envelope): string {
  return args.flag('text') ? `${message.content}\n` : messageText(message);
}

async function acknowledge(context: Context, messages: readonly Envelope[]): Promise<void> {
  if (messages.length > 0) await context.ask('checkMessages', { limit: 0, ack: messages.map(({ message_id }) => message_id) });
}

export const mailCommands: Readonly<Record<string, Command>> = { send, inbox, wait, status, stop };
