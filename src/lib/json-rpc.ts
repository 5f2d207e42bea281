/** JSON-RPC 2.0 as far as a transport has to know it: what a message is, and how a request is refused. Pure. */
import type { CutLine } from './bounded-lines.ts';

export type RequestId = string | number;

export interface RpcMessage {
  readonly jsonrpc: '2.0';
  readonly id?: RequestId;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: unknown;
}

export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** The server's own: what it cannot do now. */
  unavailable: -32000,
} as const;

/** One message may have no more. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** As many as one line or body may hold of them. */
export const MAX_BATCH = 100;

export interface RpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export function refusal(id: RequestId | null, error: RpcFailure): object {
  return { jsonrpc: '2.0', id, error };
}

export function tooLarge(): RpcFailure {
  return { code: RPC_CODES.invalidRequest, message: `a message may have at most ${MAX_MESSAGE_BYTES} bytes` };
}

/** Undefined: it is a message. */
export function messageProblem(value: unknown): RpcFailure | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return invalid('a message must be an object');
  const { jsonrpc, id, method, params } = value as Record<string, unknown>;
  if (jsonrpc !== '2.0') return invalid('jsonrpc must be "2.0"');
  if (id !== undefined && !isRequestId(id)) return invalid('id must be a string or a whole number');
  if (method === undefined) return answerProblem(value as Record<string, unknown>);
  if (typeof method !== 'string') return invalid('method must be a string');
  const isObject = typeof params === 'object' && params !== null && !Array.isArray(params);
  return params === undefined || isObject ? undefined : invalid('params must be an object');
}

function answerProblem(value: Record<string, unknown>): RpcFailure | undefined {
  const isAnswer = value['id'] !== undefined && (value['result'] !== undefined || value['error'] !== undefined);
  return isAnswer ? undefined : invalid('a message needs a method, or an id with a result or an error');
}

function invalid(message: string): RpcFailure {
  return { code: RPC_CODES.invalidRequest, message };
}

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/** For a refusal of what is no message: whose id it has, if it has one. */
export function idOf(value: unknown): RequestId | null {
  const id = typeof value === 'object' && value !== null ? (value as { readonly id?: unknown }).id : undefined;
  return isRequestId(id) ? id : null;
}

const ID = '(-?\\d{1,15}|"(?:[^"\\\\]|\\\\.)*")';
const FIRST = new RegExp(`^\\s*\\{\\s*(?:"jsonrpc"\\s*:\\s*"2\\.0"\\s*,\\s*)?"id"\\s*:\\s*${ID}\\s*,`);
/** Only what belongs to the message itself can stand before its last brace. */
const LAST = new RegExp(`"id"\\s*:\\s*${ID}\\s*(?:,\\s*"jsonrpc"\\s*:\\s*"2\\.0"\\s*)?\\}\\s*$`);

/** The id of a message of which only the ends are known: it stands at one of them with most clients. */
export function idOfCut({ head, tail }: CutLine): RequestId | null {
  const [, found] = FIRST.exec(head) ?? LAST.exec(tail) ?? [];
  try {
    return found === undefined ? null : (JSON.parse(found) as RequestId);
  } catch {
    return null;
  }
}
