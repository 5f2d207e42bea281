/** Answers an agent that asks whether it may: by the rules, or by asking a person. What is refused is noted, for people to see. */
import type { RunnerJob } from '#protocol/prompt.ts';
import { type AskingPerson, askPerson } from './ask-person.ts';
import { toAskedCall } from './asked-call.ts';
import { type Fields, textIn } from './loose.ts';
import { type AskedCall, choose, judge, type Option } from './permission.ts';
import type { Transcript } from './transcript.ts';
import type { TurnLog } from './turn-log.ts';

/** A person may be away for a while, and an agent that waits costs nothing but its time. */
const DEFAULT_ASK_MS = 300_000;

export interface PermissionParts {
  readonly job: Pick<RunnerJob, 'rules' | 'workspace' | 'home' | 'taskName' | 'askMs'>;
  readonly log: TurnLog;
  readonly transcript: Transcript;
  readonly ask: AskingPerson['ask'];
  readonly signal: AbortSignal;
  readonly note: (reason: string, message: string) => void;
}

export function answerPermissions(parts: PermissionParts): (toolCall: unknown, options: readonly Fields[]) => Promise<string | undefined> {
  const { job, log, transcript, note } = parts;
  return async (toolCall, options) => {
    log.asked(toolCall);
    const call = toAskedCall(toolCall, log.knownCall(textIn(toolCall, 'toolCallId') ?? ''), [job.workspace, job.home, '/tmp']);
    const { isAllowed, why } = await decide(call, parts);
    const title = call.title || call.commands[0] || call.kind;
    const what = `${isAllowed ? 'allowed' : 'refused'} ${title} (${why})`;
    transcript.add({ type: 'permission', text: what, isAllowed, kind: call.kind });
    if (!isAllowed) note('PermissionDenied', `${title.slice(0, 200)}: ${why}`);
    return choose(options.map(toOption), isAllowed);
  };
}

async function decide(
  call: AskedCall,
  { job, ask, signal }: PermissionParts,
): Promise<{ readonly isAllowed: boolean; readonly why: string }> {
  const { action, why } = judge(call, job.rules);
  if (action !== 'ask') return { isAllowed: action === 'allow', why };
  try {
    const question = { taskName: job.taskName, title: call.title || call.kind, commands: call.commands };
    return await askPerson(question, { ask, limitMs: job.askMs ?? DEFAULT_ASK_MS, signal });
  } catch (error) {
    return { isAllowed: false, why: `nobody could be asked: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function toOption(option: Fields): Option {
  return { optionId: textIn(option, 'optionId') ?? '', kind: textIn(option, 'kind') ?? '' };
}
