/** The words that a coding agent gets for a Task: what came out of the Tasks before it, what is to be done, what the team goes by. Pure. */
import { shortName, type Task } from '#api/types.ts';
import { headAndTail } from '#lib/text.ts';

/** Of one Task before it; of all of them together; of the team's notes. */
const MAX_OUTPUT_BYTES = 32 * 1024;
const MAX_OUTPUTS_BYTES = 96 * 1024;
const MAX_NOTES_BYTES = 32 * 1024;
const END = '--- End ---';

export interface ConventionNote {
  readonly path: string;
  readonly content: string;
}

export interface PromptOf {
  readonly task: Task;
  /** With references filled in. */
  readonly prompt: string;
  /** In the order of dependsOn. */
  readonly dependencies: readonly Task[];
  readonly notes: readonly ConventionNote[];
}

export function taskPrompt({ task, prompt, dependencies, notes }: PromptOf): string {
  const { spec, metadata } = task;
  const criteria = spec.acceptanceCriteria ?? [];
  const parts = [
    ...outputsOf(spec.team, dependencies),
    `Task ${shortName(spec.team, metadata.name)}${spec.title === undefined ? '' : `: ${spec.title}`}`,
    spec.description ?? '',
    prompt,
    criteria.length === 0 ? '' : `Done means:\n${criteria.map((sentence) => `- ${sentence}`).join('\n')}`,
    ...notesOf(notes),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function outputsOf(team: string, dependencies: readonly Task[]): readonly string[] {
  let roomBytes = MAX_OUTPUTS_BYTES;
  return dependencies.flatMap(({ metadata, status }) => {
    const said = status?.result?.stdout?.trimEnd() ?? '';
    if (said === '') return [];
    const { text } = headAndTail(said, Math.max(0, Math.min(MAX_OUTPUT_BYTES, roomBytes)));
    roomBytes -= Buffer.byteLength(text);
    return [`--- Output from "${shortName(team, metadata.name)}" ---\n${quoted(text)}\n${END}`];
  });
}

function notesOf(notes: readonly ConventionNote[]): readonly string[] {
  let roomBytes = MAX_NOTES_BYTES;
  return notes.flatMap(({ path, content }) => {
    const text = content.trim();
    roomBytes -= Buffer.byteLength(text);
    // Whole or not at all: half a rule is another rule.
    if (text === '' || roomBytes < 0) return [];
    return [`--- Conventions (${path}) ---\n${quoted(text)}\n${END}`];
  });
}

/** Nothing that somebody wrote can end its block, or begin another. */
function quoted(text: string): string {
  return text.replace(/^---/gm, ' ---');
}
