/**
 * What agentiso knows of one kind of coding agent: where it comes from, how it is started for one prompt or for a session of the Agent
 * Client Protocol, what it must find in its home, what is peculiar to it. Descriptions are pure; whoever runs one acts on them.
 */

export type BackendName = 'shell' | 'claude-code' | 'codex' | 'gemini' | 'qwen' | 'droid' | 'opencode' | 'acp';

/** How it talks to its model; decides which providers it can use. */
export type ModelProtocol = 'anthropic-messages' | 'openai-responses' | 'openai-chat' | 'gemini';

export interface Backend {
  readonly name: BackendName;
  /** What people call it. */
  readonly title: string;
  /** Exact versions: npm takes older ones in silence where the engine does not fit. Empty: nothing to install. */
  readonly packages: readonly NpmPackage[];
  /** Files below node_modules/.bin, without which an installation is not whole. */
  readonly binaries: readonly string[];
  /** Absent: it has no model. */
  readonly model?: ModelAccess;
  readonly acp?: AcpUse;
  readonly oneShot?: OneShotUse;
}

export interface NpmPackage {
  readonly name: string;
  readonly version: string;
}

export interface ModelAccess {
  readonly protocol: ModelProtocol;
  /** The provider it talks to when nothing else is said: the last part of the base URL. */
  readonly provider: string;
  /** It has no model of its own choice: one must be named. */
  readonly mustBeNamed: boolean;
}

/** Who decides on a tool call: the workspace's walls alone, or also the client, asked each time. */
export type Permissions = 'allow' | 'ask';

export interface LaunchContext {
  /** The tool directory, as seen by whoever launches. */
  readonly tools: string;
  /** Private to this run or session, and written to. */
  readonly home: string;
  /** Absolute. */
  readonly workspace: string;
  /** Of the provider, without a slash at the end; the protocol's own path (`/v1/messages` and the like) follows it. */
  readonly baseUrl: string;
  /** By the backend's own name for it. */
  readonly model?: string;
  /** Of the backend `acp` only: what is configured. */
  readonly custom?: CustomAgent;
}

/** A session gets its MCP servers by session/new. */
export interface AcpContext extends LaunchContext {
  readonly permissions: Permissions;
}

/** Nobody can be asked: whatever the workspace's walls let through is allowed. */
export interface OneShotContext extends LaunchContext {
  readonly prompt: string;
  readonly mcpServers: readonly McpServer[];
}

export interface McpServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** An agent that is none of ours, configured by whoever runs the machine. */
export interface CustomAgent {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** For session/set_mode. */
  readonly mode?: string;
  /** What of AcpQuirks is known of it; the worst is assumed of the rest. */
  readonly readyAfterMs?: number;
  readonly loadsSessions?: boolean;
}

export interface Launch {
  /** The program is named by its absolute path. */
  readonly argv: readonly [string, ...string[]];
  /** Beside what every agent gets (environment.ts). */
  readonly env: Readonly<Record<string, string>>;
  /** Written to standard input, which is closed then. Absent for a session, where it is the wire. */
  readonly stdin?: string;
  /** Must be there before the start. */
  readonly files: readonly HomeFile[];
}

export interface HomeFile {
  /** Relative to the home. */
  readonly path: string;
  readonly text: string;
}

export interface AcpUse {
  launch(context: AcpContext): Launch;
  /** The mode to set after session/new. Absent: none is to be set, the launch has seen to it. */
  mode(context: AcpContext): string | undefined;
  /** Whether rules can hold it back: it asks the client before it does anything, without a sandbox of its own. */
  readonly canAsk: boolean;
  readonly quirks: AcpQuirks;
}

export interface AcpQuirks {
  /** Two sessions of one process get each other's words. */
  readonly oneSessionPerProcess: boolean;
  /** A process that goes on when its standard input has ended is to be told by SIGTERM. */
  readonly exitsOnStdinClose: boolean;
  /** What it advertises is not always so. */
  readonly loadsSessions: boolean;
  /** It connects its MCP servers behind our back: the first prompt waits this long after session/new. */
  readonly readyAfterMs: number;
  /** The model first has to look for tools of MCP servers. */
  readonly defersMcpTools: boolean;
  /** Of a call it tells no arguments, but its title has them. */
  readonly titlesTellArguments?: boolean;
}

export interface OneShotUse {
  launch(context: OneShotContext): Launch;
  /** Of everything it has written. undefined: no end that could be read, so nobody knows what it did. */
  parseEnd(stdout: string): OneShotEnd | undefined;
}

export interface OneShotEnd {
  readonly isError: boolean;
  /** The last words of the agent, or what went wrong. */
  readonly text: string;
  /** How many tools it has called. */
  readonly toolCalls: number;
  readonly usage?: TokenUsage;
}

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Where the agent reckons it. */
  readonly costUsd?: number;
}

/** In place of a key, where an agent refuses to start without: the real one is added outside the workspace. */
export const PLACEHOLDER_KEY = 'sk-agentiso-placeholder';
