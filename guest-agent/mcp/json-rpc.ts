/** JSON-RPC 2.0 as MCP uses it: what a value that came in is, and how answers look. Pure. */

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
export const INTERNAL_ERROR = -32_603;

export type Params = Readonly<Record<string, unknown>>;
export type RpcId = string | number;

export type RpcMessage =
  | { readonly kind: 'request'; readonly id: RpcId; readonly method: string; readonly params: Params }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  /** To something that was asked of the client; nothing ever is. */
  | { readonly kind: 'response' }
  | { readonly kind: 'invalid'; readonly id: RpcId | null; readonly problem: string };

/** A call that is no MCP at all; what a tool refuses is an answer instead. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
  }
}

export function readMessage(value: unknown): RpcMessage {
  if (!isFields(value)) return { kind: 'invalid', id: null, problem: 'a message must be an object' };
  const { jsonrpc, id, method, params = {} } = value;
  const known = isId(id) ? id : null;
  if (jsonrpc !== '2.0') return { kind: 'invalid', id: known, problem: 'jsonrpc must be "2.0"' };
  if (method === undefined && ('result' in value || 'error' in value)) return { kind: 'response' };
  if (typeof method !== 'string') return { kind: 'invalid', id: known, problem: 'method must be a string' };
  if (!isFields(params)) return { kind: 'invalid', id: known, problem: 'params must be an object' };
  if (id === undefined) return { kind: 'notification', method, params };
  return known === null
    ? { kind: 'invalid', id: null, problem: 'id must be a string or a number' }
    : { kind: 'request', id: known, method, params };
}

export function toResponse(id: RpcId, result: object): object {
  return { jsonrpc: '2.0', id, result };
}

export function toErrorResponse(id: RpcId | null, code: number, message: string): object {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

export function toNotification(method: string, params: object): object {
  return { jsonrpc: '2.0', method, params };
}

export function isId(value: unknown): value is RpcId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

export function isFields(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
