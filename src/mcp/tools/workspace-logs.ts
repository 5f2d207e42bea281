/** `workspace_logs`: the log of an agent. */
import { described, flag, integer, object, text } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { boundedText } from '../workspaces/fields.ts';
import { agentResource, findWorkspace, targetFields, targetOptions } from '../workspaces/target.ts';

const TAIL_LINES = 100;
const MAX_BYTES = 262_144;
const YEAR_SECONDS = 31_536_000;

const input = object(targetFields, {
  ...targetOptions,
  tail_lines: described(integer({ min: 1, max: 5000 }), `How many of the newest lines. Default ${TAIL_LINES}.`),
  since_seconds: described(integer({ min: 1, max: YEAR_SECONDS }), 'Only lines that are not older.'),
  source: described(boundedText({ min: 1, maxBytes: 256 }), 'Only of this source: guest, task, or task/NAME. Default all.'),
});

export const workspaceLogs = defineTool({
  name: 'workspace_logs',
  title: 'Read the log of an agent',
  description:
    'Gives the newest lines of the log of an agent: what its tasks print and what the agent itself has to say, one line each with time and ' +
    'source. Read it when a task failed or an agent behaves oddly. What workspace_exec runs is not in it.',
  input,
  output: object({
    log: described(text, 'The newest line is the last.'),
    truncated: described(flag, `Older lines were left out, because an answer holds at most ${MAX_BYTES} bytes of them.`),
  }),
  category: 'default',
  isReadOnly: true,
  needsAdmin: true,
  quotesOthers: true,
  resource: agentResource,
  async run({ tail_lines: tailLines = TAIL_LINES, since_seconds: seconds, source, ...target }, call) {
    const workspace = await findWorkspace(target, call);
    const only = { ...(seconds !== undefined && { maxAgeMs: seconds * 1000 }), ...(source !== undefined && { source }) };
    const log = await call.workspaces.logs(workspace, { tailLines, maxBytes: MAX_BYTES, ...only }, call.signal);
    return { log: log.text, truncated: log.isTruncated };
  },
});
