/** One call of a tool, wherever it comes from: found, asked as its verb, and answered for a model. */
import { type AgentTool, agentTools } from '#protocol/agent-tools.ts';
import { operatorToolNames } from '#protocol/operator-tools.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { type ListedTool, type ToolError, type ToolResult, toErrorResult, toListed, toResult } from '#protocol/tool-surface.ts';
import type { Reader } from '../agent-socket/readers.ts';
import { askVerb, type VerbService } from '../agent-socket/verb-service.ts';
import { toHttpError } from '../http/http-error.ts';

/** Between two signs that a call goes on. */
const PROGRESS_MS = 2_000;

export interface AskedTool {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface CallOptions {
  readonly reader: Reader;
  /** Aborted: nobody waits any more. */
  readonly signal: AbortSignal;
  readonly onProgress?: (elapsedSeconds: number) => void;
}

export interface CalledTool {
  readonly result: ToolResult;
  /** To be called when the result has left the guest. */
  readonly onSent?: () => void;
}

let listed: readonly ListedTool[] | undefined;

export function listTools(): readonly ListedTool[] {
  listed ??= agentTools.map(toListed);
  return listed;
}

/** Rejects only when nobody waits any more. */
export async function callTool(service: VerbService, { name, args }: AskedTool, options: CallOptions): Promise<CalledTool> {
  const { reader, signal, onProgress } = options;
  const tool = agentTools.find((each) => each.name === name);
  if (tool === undefined) return { result: toErrorResult(unknownTool(name)) };
  const stopProgress = onProgress && reportProgress(onProgress);
  try {
    const verb = service.verbs.get(tool.verb);
    if (verb === undefined) throw new Error(`there is no verb ${tool.verb}`);
    const { result, onSent } = await askVerb(service, verb, args, { reader, signal });
    return { result: toResult(tool, result), ...(onSent && { onSent }) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ProtocolError)) service.warn(`${name} failed: ${error instanceof Error ? error.message : String(error)}`);
    return { result: toErrorResult(toToolError(tool, error)) };
  } finally {
    stopProgress?.();
  }
}

function reportProgress(report: (elapsedSeconds: number) => void): () => void {
  let reports = 0;
  const timer = setInterval(() => {
    reports += 1;
    report((reports * PROGRESS_MS) / 1000);
  }, PROGRESS_MS);
  return () => clearInterval(timer);
}

function unknownTool(name: string): ToolError {
  const hint = `there are ${agentTools.map((tool) => tool.name).join(', ')}`;
  if (operatorToolNames.has(name))
    return { code: 'Forbidden', message: `${name} is a tool of operators, not of agents`, hint, field: 'name' };
  return { code: 'Invalid', message: `there is no tool ${JSON.stringify(name.slice(0, 100))}`, hint, field: 'name' };
}

/** A failure of the guest itself may name files, which are nobody's business: the agent's log has it. */
export function toToolError(tool: Pick<AgentTool, 'name' | 'input'>, error: unknown): ToolError {
  const { retryable: _, ...problem } = toHttpError(error).body;
  if (!(error instanceof ProtocolError)) return { ...problem, message: `${tool.name} failed in the agent's own guest` };
  const isUnexplained = error.code === 'Invalid' && error.details.hint === undefined;
  return isUnexplained ? { ...problem, hint: fieldsOf(tool) } : problem;
}

function fieldsOf({ name, input }: Pick<AgentTool, 'name' | 'input'>): string {
  const { properties = {}, required = [] } = input.schema() as { properties?: object; required?: readonly string[] };
  const names = Object.keys(properties).map((field) => (required.includes(field) ? `${field} (required)` : field));
  return names.length === 0 ? `${name} takes no arguments` : `${name} takes ${names.join(', ')}`;
}
