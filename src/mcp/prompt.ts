/** A prompt that a person picks in the client: it becomes the first message of a conversation that uses our tools. */
import type { Asking } from './resource.ts';

export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  /** The text, with what is known of the team or repository in it. */
  render(values: Readonly<Record<string, string>>, asking: Asking): Promise<string>;
  complete?(name: string, typed: string, asking: Asking, known: Readonly<Record<string, string>>): Promise<readonly string[]>;
}
