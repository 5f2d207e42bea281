/** `workspace_exec_parallel`: one command in many workspaces. */
import { DEFAULT_NAMESPACE } from '#api/meta.ts';
import { shortName } from '#api/types.ts';
import { AgentisoError, NotFoundError } from '#lib/errors.ts';
import { count, described, flag, integer, list, object, type Parsed, text } from '#protocol/shape.ts';
import { toToldError } from '#protocol/tool-surface.ts';
import { defineTool, type ToolCall } from '../tool.ts';
import { toToolError } from '../tool-error.ts';
import { commandFields, timeoutSeconds, toCommand, withCommand } from '../workspaces/command.ts';
import { nameText } from '../workspaces/fields.ts';
import { fewAtATime } from '../workspaces/parallel.ts';
import { runDeadlineMs, runFields, toRunAnswer } from '../workspaces/run.ts';
import { checkAdmin, findWorkspace, targetFields, targetOptions, teamAgents } from '../workspaces/target.ts';

const MAX_AGENTS = 20;
const AT_A_TIME = 10;
const TIMEOUT_SECONDS = 300;
const OUTPUT_BYTES = 16_384;
const MAX_OUTPUT_BYTES = 262_144;

const input = withCommand(
  object(
    { team: targetFields.team },
    {
      ...targetOptions,
      ...commandFields,
      agents: described(
        list(nameText, { min: 1, max: MAX_AGENTS }),
        'Names of agents in the team. Default: all of them, if they are not more than 20.',
      ),
      timeout_seconds: described(timeoutSeconds, `Of each command. Default ${TIMEOUT_SECONDS}.`),
      max_parallel: described(integer({ min: 1, max: MAX_AGENTS }), `How many at the same time. Default ${AT_A_TIME}.`),
      max_output_bytes: described(integer({ min: 1, max: MAX_OUTPUT_BYTES }), `Of stdout and of stderr of each. Default ${OUTPUT_BYTES}.`),
    },
  ),
);
type Asked = Parsed<typeof input>;

const result = object(
  { agent: text },
  {
    ...runFields,
    error: described(
      object({ code: text, message: text, retryable: flag }, { hint: text }),
      'Instead of everything else: it could not be asked.',
    ),
  },
);
type Result = Parsed<typeof result>;

const summary = object({
  total: count,
  succeeded: described(count, 'With exit code 0.'),
  failed: count,
  timed_out: count,
  elapsed_ms: count,
});

export const workspaceExecParallel = defineTool({
  name: 'workspace_exec_parallel',
  title: 'Run a command in many workspaces',
  description:
    'Runs the same command in the workspaces of several agents of a team and waits for all. Each has a result of its own; one that fails ' +
    'or cannot be reached stops no other. Counts as one call per agent. For one agent use workspace_exec.',
  input,
  output: object({ results: list(result), summary }),
  category: 'exec',
  isReadOnly: false,
  isDestructive: true,
  quotesOthers: true,
  deadlineMs: ({ agents, max_parallel = AT_A_TIME, timeout_seconds = TIMEOUT_SECONDS }) =>
    Math.ceil((agents?.length ?? MAX_AGENTS) / max_parallel) * runDeadlineMs(timeout_seconds),
  resource: ({ team }) => `team/${team}`,
  async run(asked, call) {
    checkAdmin(call.caller);
    const startedMs = performance.now();
    const agents = [...new Set(asked.agents ?? (await allAgents(asked, call)))];
    call.charge(agents.length - 1);
    let done = 0;
    const results = await fewAtATime(agents, asked.max_parallel ?? AT_A_TIME, async (agent): Promise<Result> => {
      const ended = await runIn(agent, asked, call);
      done += 1;
      call.progress(`${agent}: ${outcomeOf(ended)}`, { of: agents.length, count: done });
      return { agent, ...ended };
    });
    call.signal.throwIfAborted();
    return { results, summary: toSummary(results, Math.round(performance.now() - startedMs)) };
  },
});

async function allAgents({ team, namespace = DEFAULT_NAMESPACE }: Asked, call: ToolCall): Promise<readonly string[]> {
  const names = (await teamAgents(team, namespace, call)).map((name) => shortName(team, name));
  if (names.length === 0) {
    throw new NotFoundError(`there is no team ${team} with agents in namespace ${namespace}`, { hint: 'team_list lists the teams' });
  }
  if (names.length <= MAX_AGENTS) return names;
  const hint = 'name at most 20 of them in agents, and call again for the others';
  throw new AgentisoError('Invalid', `team ${team} has ${names.length} agents, a call reaches at most ${MAX_AGENTS}`, { hint });
}

async function runIn(agent: string, asked: Asked, call: ToolCall): Promise<Omit<Result, 'agent'>> {
  const { team, namespace, timeout_seconds = TIMEOUT_SECONDS, max_output_bytes: maxOutputBytes = OUTPUT_BYTES } = asked;
  try {
    const workspace = await findWorkspace({ team, agent, ...(namespace !== undefined && { namespace }) }, call);
    const options = { timeoutMs: timeout_seconds * 1000, maxOutputBytes, signal: call.signal };
    return toRunAnswer(await call.workspaces.exec(workspace, toCommand(asked), options));
  } catch (error) {
    const known = toToolError(error);
    if (known === undefined) throw error;
    const { code, message, retryable, hint } = toToldError(known);
    return { error: { code, message, retryable, ...(hint !== undefined && { hint }) } };
  }
}

type Outcome = 'succeeded' | 'failed' | 'timed_out';

export function outcomeOf({ exit_code, timed_out }: Omit<Result, 'agent'>): Outcome {
  if (timed_out) return 'timed_out';
  return exit_code === 0 ? 'succeeded' : 'failed';
}

function toSummary(results: readonly Result[], elapsedMs: number): Parsed<typeof summary> {
  const counted = (outcome: Outcome) => results.filter((ended) => outcomeOf(ended) === outcome).length;
  return {
    total: results.length,
    succeeded: counted('succeeded'),
    failed: counted('failed'),
    timed_out: counted('timed_out'),
    elapsed_ms: elapsedMs,
  };
}
