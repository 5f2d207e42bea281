/** `team_receive`: what agents have to say to whoever runs a team, and what their tasks gave. */
import type { Task } from '#api/types.ts';
import { acknowledgeMessages, type FiledMessage, type MessageFilter, PEOPLE, readOldest } from '#client/messages.ts';
import { MAX_WAIT_SECONDS } from '#protocol/agent-verbs.ts';
import { count, described, flag, integer, list, map, object, text } from '#protocol/shape.ts';
import { defineTool, type ToolCall } from '../tool.ts';
import { awaitTeam } from '../work/await-team.ts';
import { namespace, namespaceOf, team } from '../work/fields.ts';
import { given } from '../work/given.ts';
import { pendingCount, resultsOf, taskResult } from '../work/team-results.ts';
import { withHint, wrongField } from '../work/with-hint.ts';

const LEAD = 'lead';
const USUAL_LIMIT = 10;
const MARGIN_MS = 30_000;

const input = object(
  { team },
  {
    namespace,
    agent: described(
      text,
      'Whose inbox. lead (the default) is yours when no agent leads the team, orchestrator always is; any other is only looked at, and stays as it is.',
    ),
    limit: described(integer({ min: 1, max: 100 }), `Most messages, and most task results. Default ${USUAL_LIMIT}.`),
    wait_seconds: described(
      integer({ min: 0, max: MAX_WAIT_SECONDS }),
      'If there is no message, and nothing newer than results_since: wait so long for a message, or for a task to end. Default 0.',
    ),
    ack: described(
      list(text, { max: 1_000 }),
      'message_id of messages that you have dealt with: they are put away first, and not shown again.',
    ),
    results_since: described(text, 'Only results of tasks that ended after this time (finished_at of the last one you have).'),
  },
);
const message = object(
  { message_id: text, from: text, to: text, message_type: text, content: text, timestamp: text, state: text },
  { reply_to: text, request_id: text, metadata: map(text) },
);
const output = object(
  { messages: list(message), task_results: list(taskResult), pending_tasks: count },
  { unknown_acks: list(text), timed_out: flag },
);

export const teamReceive = defineTool({
  name: 'team_receive',
  title: 'Messages and results of a team',
  description:
    'Gives the messages for you that you have not put away, oldest first, the results of tasks that ended last (stdout cut at 4096 bytes, stderr at 2048; get_task_result has more), and how many tasks are not finished. Reading keeps everything: put messages away with ack in the next call. With wait_seconds it answers as soon as a message is there or a task ends. A message of type plan_submission is answered with approve_plan, others with team_message and reply_to.',
  category: 'default',
  isReadOnly: false,
  isIdempotent: true,
  quotesOthers: true,
  input,
  output,
  deadlineMs: ({ wait_seconds = 0 }) => wait_seconds * 1_000 + MARGIN_MS,
  resource: ({ team: name }) => `team/${name}`,
  async run(asked, call) {
    const { agent = LEAD, limit = USUAL_LIMIT, wait_seconds: seconds = 0, ack = [], results_since: since } = asked;
    const isOwn = agent === LEAD || agent === PEOPLE;
    const place = { namespace: namespaceOf(asked), team: asked.team };
    if (since !== undefined && Number.isNaN(Date.parse(since)))
      throw wrongField('results_since', 'give a time such as 2026-01-31T12:00:00Z');
    const acked = ack.length === 0 ? undefined : await putAway(call, { ...place, inbox: agent }, { ids: ack, isOwn });
    const query = { limit, since, agent: isOwn ? undefined : agent };
    const filter = { ...place, inbox: agent, unseen: true, limit };
    let seen = await look(call, filter);
    let isTimedOut = false;
    // Without a time to begin from nobody knows which results are news: then only what ends from now on is.
    const isQuiet = seen.messages.length === 0 && (since === undefined || resultsOf(seen.tasks, query).length === 0);
    if (isQuiet && seconds > 0) {
      isTimedOut = !(await awaitTeam(call, { filter, ...seen, timeoutMs: seconds * 1_000 }));
      if (!isTimedOut) seen = await look(call, filter);
    }
    return {
      messages: seen.messages.map(toMessage),
      task_results: resultsOf(seen.tasks, query),
      pending_tasks: pendingCount(seen.tasks, query.agent),
      ...given({ unknown_acks: acked?.unknown, timed_out: isTimedOut || undefined }),
    };
  },
});

async function look(call: ToolCall, filter: MessageFilter & { readonly team: string }) {
  const hints = { NotFound: 'team_list shows the teams, team_status the agents of one' };
  const messages = await withHint(readOldest(call, filter), hints);
  const listed = { namespace: filter.namespace, fieldSelector: `spec.team=${filter.team}` };
  const { items: tasks, resourceVersion } = await call.client.list<Task>('Task', listed);
  return { messages, tasks, resourceVersion };
}

interface Inbox {
  readonly namespace: string;
  readonly team: string;
  readonly inbox: string;
}

/** What was written to an agent is put away by that agent alone. */
async function putAway(call: ToolCall, inbox: Inbox, { ids, isOwn }: { readonly ids: readonly string[]; readonly isOwn: boolean }) {
  if (!isOwn) throw wrongField('ack', `the inbox of ${inbox.inbox} is only looked at`, 'leave ack out, or leave agent out');
  return withHint(acknowledgeMessages(call, { ...inbox, messageIds: ids }), {
    Forbidden: 'an agent leads this team and reads that inbox itself; say agent: orchestrator for your own',
    NotFound: 'team_list shows the teams',
  });
}

function toMessage({ message: { message_id, from, to, message_type, content, timestamp, ...more }, state }: FiledMessage) {
  const { reply_to, request_id, metadata } = more;
  return { message_id, from, to, message_type, content, timestamp, state, ...given({ reply_to, request_id, metadata }) };
}
