/** Requests, tasks and plans. */
import { type Command, FAILED, OK, show, textFrom } from './command.ts';
import { indented, line, table } from './print.ts';

const board: Command = {
  usage: '[--limit N]',
  options: { limit: 'number' },
  run: async (args, context) => {
    const result = await context.ask('openRequests', { limit: args.only(0).number('limit') });
    const rows = (result.requests as Record<string, string>[]).map((each) => [
      each['request_id'] ?? '',
      String(each['priority']),
      each['from'] ?? '',
      each['expires_at'] ?? '-',
      each['title'] ?? '',
    ]);
    show(args, context, result, () =>
      rows.length === 0 ? 'nothing is open\n' : table(['NAME', 'PRIORITY', 'FROM', 'EXPIRES', 'TITLE'], rows),
    );
    return OK;
  },
};

const request: Command = {
  usage: 'TEXT... [--timeout 30] [--context TEXT]',
  options: { timeout: 'number', context: 'text' },
  run: async (args, context) => {
    const description = await textFrom(args, context, 0);
    const asked = { description, context: args.text('context'), timeout_seconds: args.number('timeout') };
    const result = await context.ask('requestTask', asked);
    show(args, context, result, () => `${result.request_id}\n`);
    return OK;
  },
};

const claim: Command = {
  usage: 'NAME',
  run: async (args, context) => {
    const result = await context.ask('claimRequest', { request_id: args.only(1).word(0, 'NAME') });
    if (args.flag('json')) context.print(`${JSON.stringify(result)}\n`);
    else if (result.claimed) context.print(claimText(result));
    else context.complain(line(`not claimed: ${result.message}`));
    return result.claimed ? OK : FAILED;
  },
};

function claimText({ task = '', title, description, attempt }: Record<string, string | number | undefined>): string {
  const head = line(`claimed ${task}${attempt === undefined ? '' : `, attempt ${attempt}`}${title === undefined ? '' : `: ${title}`}`);
  return `${head}\n${typeof description === 'string' && description !== '' ? indented(description) : ''}`;
}

/** A change of one Task that answers with the word for its state. */
function change(usage: string, verb: string, toParams: (text: () => Promise<string>, hasText: boolean) => Promise<object>): Command {
  return {
    usage,
    run: async (args, context) => {
      const task = args.word(0, 'NAME');
      const params = await toParams(() => textFrom(args, context, 1), args.words.length > 1);
      const result = await context.ask(verb, { task, ...params });
      show(args, context, result, () => `${line(task)} ${result.status ?? `plan submitted, round ${result.round}`}\n`);
      return OK;
    },
  };
}

export const taskCommands: Readonly<Record<string, Command>> = {
  board,
  request,
  claim,
  done: change('NAME [RESULT...|-]', 'completeTask', async (text, hasText) => (hasText ? { result: await text() } : {})),
  fail: change('NAME REASON...', 'updateTask', async (text) => ({ status: 'failed', reason: await text() })),
  block: change('NAME REASON...', 'updateTask', async (text) => ({ status: 'blocked', reason: await text() })),
  note: change('NAME TEXT...', 'updateTask', async (text) => ({ note: await text() })),
  progress: change('NAME TEXT...', 'updateTask', async (text) => ({ progress: await text() })),
  release: change('NAME', 'releaseTask', async () => ({})),
  plan: change('NAME [TEXT...|-]', 'submitPlan', async (text) => ({ plan: await text() })),
  approve: change('NAME [FEEDBACK...]', 'approvePlan', async (text, hasText) => ({
    approved: true,
    ...(hasText && { feedback: await text() }),
  })),
  refuse: change('NAME FEEDBACK...', 'approvePlan', async (text) => ({ approved: false, feedback: await text() })),
};
