/** What agents get at the daemon's `/mcp`: the tools of their own team, which their guest answers. The composition reaches the guest. */
import type { ListedTool, ToolResult } from '#protocol/tool-surface.ts';

/** By its short name, as its token says it. */
export interface AgentCaller {
  readonly namespace: string;
  readonly team: string;
  readonly name: string;
}

export interface AgentCallOptions {
  /** The session it belongs to: what that was given is acknowledged when it goes on. */
  readonly reader: string;
  readonly signal: AbortSignal;
  progress(message: string): void;
}

export interface AgentMode {
  readonly tools: readonly ListedTool[];
  /** Refusals are results with `isError`, or AgentisoErrors. */
  call(agent: AgentCaller, tool: string, args: object, options: AgentCallOptions): Promise<ToolResult>;
}
