/**
 * What a tool of an operator is: one verb, one file, data and one function. It translates: checked input, one or two calls, a shaped answer.
 * Who asks, limits, the log of calls, deadlines and errors are the same for all of them (`call-tool.ts`).
 */
import type { Client } from '#client/client.ts';
import type { Connection } from '#client/connection.ts';
import type { Parsed, Parser } from '#protocol/shape.ts';
import type { ToolSurface } from '#protocol/tool-surface.ts';
import type { WorkspaceIo } from './workspace-io.ts';

/** Who asks: it follows from the socket or the token, and from nothing that is said over it. */
export interface Caller {
  readonly user: string;
  readonly role: 'admin' | 'viewer';
}

export interface ToolCall {
  readonly caller: Caller;
  /** The API, asked as the caller: what it refuses, a tool refuses. */
  readonly connection: Connection;
  /** Resources over the same connection. */
  readonly client: Client;
  readonly workspaces: WorkspaceIo;
  /** Aborts when the client cancels, hangs up, or the deadline has passed. */
  readonly signal: AbortSignal;
  /** One line for whoever waits; sent only to clients that asked for it. */
  progress(message: string, done?: { readonly of: number; readonly count: number }): void;
  /** How many workspaces are made, or commands started, beyond the first: taken from the bucket of the tool's own category. */
  charge(count: number): void;
  /** For a tool of another category that turns out to make workspaces: takes one each of `create`, or throws RateLimited before anything is made. */
  admitWorkspaces(count: number): void;
}

export interface Tool<I = unknown, O = unknown> extends ToolSurface<I, O> {
  /** Reads, but what only a command inside could see: for admins, as exec is. Tools that write are for admins anyway. */
  readonly needsAdmin?: boolean;
  /** How long a call may take; by its input where that says so. 120 s when absent. */
  readonly deadlineMs?: number | ((input: I) => number);
  /** What the log of calls names: `team/sprint`, `agent/sprint-coder-1`. Never content. */
  readonly resource?: (input: I) => string;
  run(input: I, call: ToolCall): Promise<O>;
}

/** For the types alone: what a tool takes and gives follows from its parsers. */
export function defineTool<I extends Parser<unknown>, O extends Parser<unknown>>(
  tool: Omit<Tool<Parsed<I>, Parsed<O>>, 'input' | 'output'> & { readonly input: I; readonly output: O },
): Tool {
  return tool as unknown as Tool;
}
