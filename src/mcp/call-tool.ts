/** One call of a tool from what the client sent to what it gets: who may, what was asked, rates, deadline, answer or refusal, and the log of calls. */
import type { Connection } from '#client/connection.ts';
import { remoteClient } from '#client/remote.ts';
import type { AuditLog } from '#lib/audit.ts';
import { AgentisoError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { nearest } from '#lib/suggest.ts';
import { parseParams } from '#protocol/parse-params.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { type ToolError, type ToolResult, toErrorResult, toResult } from '#protocol/tool-surface.ts';
import type { RateLimits } from '#relay/rates.ts';
import { givenTwice } from './answer-json.ts';
import { withHint } from './hints.ts';
import type { Progress } from './progress.ts';
import type { Caller, Tool, ToolCall } from './tool.ts';
import { toToolError } from './tool-error.ts';
import { within } from './within.ts';
import type { WorkspaceIo } from './workspace-io.ts';

/** The same for all sessions. */
export interface Calls {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly rates: RateLimits;
  readonly audit: AuditLog;
  readonly log: Logger;
  readonly workspaces: WorkspaceIo;
  /** Where this daemon keeps its things, in every spelling: told to nobody. */
  readonly homes: readonly string[];
}

export interface Asker {
  readonly caller: Caller;
  readonly connection: Connection;
}

export interface CallRequest {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

const DEADLINE_MS = 120_000;

export async function callTool(calls: Calls, asker: Asker, request: CallRequest): Promise<ToolResult> {
  const started = performance.now();
  const noted: Noted = {};
  const record = (outcome: string) => {
    const durationMs = Math.round(performance.now() - started);
    // When the answer is on its way.
    process.nextTick(() =>
      calls.audit.record({
        who: asker.caller.user,
        mode: 'orchestrator',
        tool: request.name.slice(0, MAX_NAME_CHARS),
        ...(noted.resource !== undefined && { resource: noted.resource }),
        outcome,
        durationMs,
      }),
    );
  };
  try {
    const result = await answered(calls, asker, request, noted);
    record(request.signal.aborted ? CANCELLED : 'ok');
    return result;
  } catch (error) {
    const refusal = request.signal.aborted ? GONE : refusalOf(calls, error, request.name);
    record(refusal.code);
    return toErrorResult(refusal);
  } finally {
    request.progress.end();
  }
}

const MAX_NAME_CHARS = 100;
const CANCELLED = 'Cancelled';
/** Nobody reads it. */
const GONE: ToolError = { code: CANCELLED, message: 'the client took its call back' };

/** What is known of a call by the time it fails. */
interface Noted {
  resource?: string;
}

async function answered(calls: Calls, asker: Asker, request: CallRequest, noted: Noted): Promise<ToolResult> {
  const tool = toolNamed(calls.tools, request.name);
  if (!mayCall(asker.caller, tool)) {
    throw new AgentisoError('Forbidden', `${asker.caller.user} is a viewer, and may not call ${tool.name}`);
  }
  calls.rates.charge(asker.caller.user, tool.category);
  const input = inputOf(tool, request.arguments);
  const resource = tool.resource?.(input);
  if (resource !== undefined) noted.resource = resource;
  const { deadlineMs = DEADLINE_MS } = tool;
  const limitMs = typeof deadlineMs === 'function' ? deadlineMs(input) : deadlineMs;
  const answer = await within(limitMs, request.signal, (signal) =>
    tool.run(input, toolCall(calls, asker, { tool, progress: request.progress, signal })),
  );
  return givenTwice(toResult(tool, answer as object));
}

/** A viewer is offered what reads, and nothing else. */
export function mayCall({ role }: Caller, { isReadOnly, needsAdmin = false }: Pick<Tool, 'isReadOnly' | 'needsAdmin'>): boolean {
  return role === 'admin' || (isReadOnly && !needsAdmin);
}

function toolNamed(tools: ReadonlyMap<string, Tool>, name: string): Tool {
  const tool = tools.get(name);
  if (tool) return tool;
  const near = nearest(name.slice(0, MAX_NAME_CHARS), [...tools.keys()]);
  throw new AgentisoError('Invalid', `there is no tool ${JSON.stringify(name.slice(0, MAX_NAME_CHARS))}`, {
    hint: near === undefined ? 'tools/list names all there are' : `did you mean ${near}?`,
  });
}

function inputOf(tool: Tool, given: Readonly<Record<string, unknown>>): unknown {
  try {
    return parseParams(tool.input as Tool<object>['input'], given, 'the input');
  } catch (error) {
    if (!(error instanceof ProtocolError) || error.details.hint !== undefined) throw error;
    throw new ProtocolError(error.code, error.message, error, { ...error.details, hint: fieldHint(tool, error.details.field) });
  }
}

function fieldHint({ name, input }: Tool, field: string | undefined): string {
  const known = Object.keys((input.schema()['properties'] as object | undefined) ?? {});
  const near = field === undefined || known.includes(field) ? undefined : nearest(field, known);
  if (near !== undefined) return `did you mean ${near}?`;
  return known.length === 0 ? `${name} takes no fields` : `the fields of ${name}: ${known.join(', ')}`;
}

interface Running {
  readonly tool: Tool;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

function toolCall(calls: Calls, { caller, connection: shared }: Asker, { tool, progress, signal }: Running): ToolCall {
  const connection = ending(shared, signal);
  return {
    caller,
    connection,
    client: remoteClient(connection),
    workspaces: calls.workspaces,
    signal,
    progress: progress.tell,
    charge: (count) => calls.rates.chargeBeyond(caller.user, tool.category, count),
    admitWorkspaces(count) {
      if (count < 1) return;
      calls.rates.charge(caller.user, 'create');
      calls.rates.chargeBeyond(caller.user, 'create', count - 1);
    },
  };
}

/** Reads end with the call. A write that is under way is rather waited for than left in doubt. */
export function ending(connection: Connection, signal: AbortSignal): Connection {
  return {
    ...connection,
    request: (request) => connection.request(request.method === 'GET' ? { signal, ...request } : request),
    // It belongs to the session.
    close() {},
  };
}

export function refusalOf({ log, homes }: Pick<Calls, 'log' | 'homes'>, error: unknown, tool: string): ToolError {
  const known = toToolError(error, homes);
  if (known?.code === 'Internal' || !known) log.error({ err: error, tool }, 'a tool failed');
  return withHint(known ?? { code: 'Internal', message: `${tool} failed for a reason that only the daemon's log has` }, tool);
}
