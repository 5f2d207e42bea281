/** What a scripted model is told to do: steps, played one after the other, found by a marker in the prompt. */

export type Step = (McpStep | WriteStep | ShellStep | CallStep | TextStep) & Fault;

/** Calls a tool of an MCP server, by whatever name the agent gives it. */
export interface McpStep {
  readonly op: 'mcp';
  readonly tool: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** Creates a file with the agent's own tool; an absolute path suits them all. */
export interface WriteStep {
  readonly op: 'write';
  readonly path: string;
  readonly content: string;
}

/** Runs a command with the agent's own tool. */
export interface ShellStep {
  readonly op: 'shell';
  readonly command: string;
}

/** Calls a tool by the very name it is offered under. */
export interface CallStep {
  readonly op: 'call';
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** Ends the turn. */
export interface TextStep {
  readonly op: 'text';
  readonly text: string;
}

/** What goes wrong before the step is played. */
export interface Fault {
  readonly delayMs?: number;
  /** Answered instead of the step: always, or until `untilMs`. */
  readonly status?: number;
  /** By the clock of this machine. The same request is refused before and answered after it; refusals say when that is. */
  readonly untilMs?: number;
}

export type Scripts = Readonly<Record<string, readonly Step[]>>;

/** Puts the script into the prompt by its name. */
export function marker(name: string): string {
  return `[[script:${name}]]`;
}

/** Puts the steps themselves into the prompt: nobody has to know them beforehand. */
export function inlineScript(steps: readonly Step[]): string {
  return `\`\`\`script\n${JSON.stringify(steps)}\n\`\`\``;
}
