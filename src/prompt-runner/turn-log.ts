/** What an agent does, update by update: into the transcript, and into the figures of the turn. */
import { MAX_TOOL_TEXT_BYTES } from '#protocol/prompt.ts';
import { cutText, keepEnd } from './cut.ts';
import { type Fields, fieldsIn, isFields, textIn } from './loose.ts';
import type { EndedCall } from './repeats.ts';
import type { Transcript } from './transcript.ts';
import type { Usage } from './usage.ts';

const MAX_WORDS_BYTES = 1024 * 1024;
const OVER = ['completed', 'failed'];

export interface TurnLogOptions {
  readonly now: () => Date;
  /** See AcpQuirks. */
  readonly titlesTellArguments?: boolean | undefined;
}

export class TurnLog {
  readonly #transcript: Transcript;
  readonly #usage: Usage;
  readonly #now: () => Date;
  readonly #titlesTellArguments: boolean;
  /** By id, everything that was said of each so far. */
  readonly #calls = new Map<string, Fields>();
  /** Of calls that are not over. */
  readonly #beganMs = new Map<string, number>();
  #words = '';
  #turnCalls = new Set<string>();
  #onFirst: (() => void) | undefined;
  #onCallEnded: ((call: EndedCall) => void) | undefined;

  constructor(transcript: Transcript, usage: Usage, { now, titlesTellArguments = false }: TurnLogOptions) {
    this.#transcript = transcript;
    this.#now = now;
    this.#titlesTellArguments = titlesTellArguments;
    this.#usage = usage;
  }

  get toolCalls(): number {
    return this.#calls.size;
  }

  /** What the agent has said in this turn. */
  get words(): string {
    return this.#words;
  }

  /** What it called in this turn, in words that are the same when the call is. */
  get callsOfTurn(): readonly string[] {
    return [...this.#turnCalls].map((id) => describeCall(this.#calls.get(id) ?? {}));
  }

  knownCall(id: string): Fields {
    return this.#calls.get(id) ?? {};
  }

  /** `onFirst`: called with the first sign that the agent has taken the prompt. */
  beginTurn({ onFirst, onCallEnded }: { readonly onFirst: () => void; readonly onCallEnded: (call: EndedCall) => void }): void {
    this.#words = '';
    this.#turnCalls = new Set();
    this.#onFirst = onFirst;
    this.#onCallEnded = onCallEnded;
  }

  update(update: unknown): void {
    const kind = textIn(update, 'sessionUpdate');
    switch (kind) {
      case 'agent_message_chunk':
      case 'agent_thought_chunk':
        this.#first();
        this.#chunk(kind, textIn(fieldsIn(update, 'content'), 'text') ?? '');
        break;
      case 'tool_call':
      case 'tool_call_update':
        this.#first();
        this.#call(isFields(update) ? update : {});
        break;
      case 'usage_update':
        this.#usage.update(update);
        break;
      default:
      // What a newer agent may say besides is none of our business.
    }
  }

  /** An agent may ask about a call that it has not announced. */
  asked(toolCall: unknown): void {
    this.#first();
    if (isFields(toolCall)) this.#call(toolCall);
  }

  #first(): void {
    const onFirst = this.#onFirst;
    this.#onFirst = undefined;
    onFirst?.();
  }

  #chunk(kind: string, piece: string): void {
    const isThought = kind === 'agent_thought_chunk';
    if (!isThought) this.#words = keepEnd(this.#words + piece, MAX_WORDS_BYTES);
    this.#transcript.words(isThought ? 'thought' : 'agent', piece);
  }

  #call(update: Fields): void {
    const id = textIn(update, 'toolCallId');
    if (id === undefined) return;
    const before = this.#calls.get(id);
    const said = Object.entries(update).filter(([name, value]) => value !== null && value !== undefined && name !== 'sessionUpdate');
    const call: Fields = { ...before, ...Object.fromEntries(said) };
    this.#calls.set(id, call);
    this.#turnCalls.add(id);
    const status = textIn(call, 'status') ?? 'pending';
    const isOver = OVER.includes(status) && textIn(before, 'status') !== status;
    if (before === undefined || isOver) this.#transcript.add({ type: 'tool', ...entryOf(id, call, status) });
    this.#time(id, call, isOver);
  }

  #time(id: string, call: Fields, isOver: boolean): void {
    const nowMs = this.#now().getTime();
    const beganMs = this.#beganMs.get(id) ?? nowMs;
    if (!isOver) return void this.#beganMs.set(id, beganMs);
    this.#beganMs.delete(id);
    this.#onCallEnded?.({ what: identityOf(call, this.#titlesTellArguments), tookMs: nowMs - beganMs });
  }
}

/** Undefined where nothing is said of its arguments: then any two might be taken for the same. */
function identityOf(call: Fields, titlesTellArguments: boolean): string | undefined {
  const { rawInput } = call;
  const isTold = isFields(rawInput) ? Object.keys(rawInput).length > 0 : titlesTellArguments && textIn(call, 'title') !== undefined;
  return isTold ? describeCall(call) : undefined;
}

function entryOf(id: string, call: Fields, status: string) {
  const title = textIn(call, 'title') || textIn(call, 'name') || id;
  const output = OVER.includes(status) ? outputOf(call) : '';
  const input = call['rawInput'] === undefined ? undefined : cutText(JSON.stringify(call['rawInput']) ?? '', MAX_TOOL_TEXT_BYTES);
  return {
    text: OVER.includes(status) ? `${title}: ${status}` : title,
    id,
    status,
    kind: textIn(call, 'kind') ?? 'other',
    ...(input !== undefined && { input }),
    ...(output !== '' && { output: cutText(output, MAX_TOOL_TEXT_BYTES) }),
  };
}

function outputOf(call: Fields): string {
  const content = Array.isArray(call['content']) ? call['content'] : [];
  const texts = content.map((item) => textIn(fieldsIn(item, 'content'), 'text') ?? (isFields(item) ? JSON.stringify(item) : ''));
  if (texts.some((text) => text !== '')) return texts.join('\n');
  const { rawOutput } = call as { readonly rawOutput?: unknown };
  if (rawOutput === undefined) return '';
  return typeof rawOutput === 'string' ? rawOutput : (JSON.stringify(rawOutput) ?? '');
}

function describeCall(call: Fields): string {
  const { kind = '', title = '', name = '', rawInput = '' } = call;
  return JSON.stringify([kind, title, name, rawInput]);
}
