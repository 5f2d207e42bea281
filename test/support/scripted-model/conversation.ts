/** A request to a model, whatever its protocol: what was said so far, and the tools that are offered. */

export interface Turn {
  readonly kind: 'user' | 'result' | 'other';
  readonly text: string;
  /** Of a result: the call it answers. */
  readonly callId?: string;
}

export interface OfferedTool {
  readonly name: string;
  readonly schema?: ToolSchema;
  /** OpenAI Responses: part of the call. */
  readonly namespace?: string;
  /** OpenAI Responses: takes text, not arguments. */
  readonly isFreeForm?: boolean;
}

export interface ToolSchema {
  readonly properties?: Readonly<Record<string, PropertySchema>>;
  readonly required?: readonly string[];
}

export interface PropertySchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
}

export interface Conversation {
  readonly turns: readonly Turn[];
  readonly tools: readonly OfferedTool[];
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly namespace?: string;
  readonly isFreeForm?: boolean;
  readonly args: Readonly<Record<string, unknown>>;
}

export type Reply = { readonly text: string } | { readonly call: ToolCall };
