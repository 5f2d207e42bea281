/** What can be read at an address: `agentiso://teams/sprint/board` and its like. Reading and following change nothing. */
import type { ToolCall } from './tool.ts';

/** As the caller sees it; tools have the same. */
export type Asking = Pick<ToolCall, 'caller' | 'connection' | 'client' | 'workspaces' | 'signal'>;

export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType: string;
}

export interface ReadResource {
  readonly uri: string;
  readonly mimeType: string;
  readonly text: string;
}

/** One family of addresses. */
export interface Resource {
  /** RFC 6570: `agentiso://teams/{team}/board`. */
  readonly uriTemplate: string;
  readonly name: string;
  readonly title: string;
  /** For a model. */
  readonly description: string;
  readonly mimeType: string;
  /** Those that are there now. */
  list(asking: Asking): Promise<readonly ListedResource[]>;
  /** `values` are those of the template, decoded. Throws NotFoundError. */
  read(values: Readonly<Record<string, string>>, asking: Asking): Promise<string>;
  /**
   * The first item says that following has begun: nothing after it is missed. Then one per change, several quick ones as one, until the
   * signal aborts; never by looking again and again.
   */
  changes(values: Readonly<Record<string, string>>, asking: Asking): AsyncIterable<void>;
  /** For the completion of one value: what begins with `typed`, at most 100. `known` are the values that are filled in already. */
  complete?(name: string, typed: string, asking: Asking, known: Readonly<Record<string, string>>): Promise<readonly string[]>;
}
