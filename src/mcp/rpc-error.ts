/** Refusals of what is no tool call: a client gets them as errors of JSON-RPC. */
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { RPC_CODES } from '#lib/json-rpc.ts';
import type { Logger } from '#lib/log.ts';
import { toToldError } from '#protocol/tool-surface.ts';
import { toToolError } from './tool-error.ts';

/** MCP's own. */
const RESOURCE_NOT_FOUND = -32002;

export function invalidParams(message: string): Error {
  return rpcError(RPC_CODES.invalidParams, message);
}

export function methodNotFound(method: string): Error {
  return rpcError(RPC_CODES.methodNotFound, `there is no method ${JSON.stringify(method.slice(0, 100))}`);
}

/** With the code and the hint as data, as a tool would give them. */
export function toRpcError(error: unknown, { log, homes }: { readonly log: Logger; readonly homes: readonly string[] }): Error {
  if (error instanceof McpError || isRpcError(error)) return error;
  const known = toToolError(error, homes);
  if (!known) {
    log.error({ err: error }, 'a request of an MCP client failed');
    return rpcError(RPC_CODES.internalError, "the request failed for a reason that only the daemon's log has");
  }
  return rpcError(codeOf(known.code), known.message, toToldError(known));
}

function codeOf(code: string): number {
  if (code === 'NotFound') return RESOURCE_NOT_FOUND;
  return code === 'Invalid' ? RPC_CODES.invalidParams : RPC_CODES.internalError;
}

/** The SDK sends number, text and data of any error that has them; its own class puts the number into the text. */
function rpcError(code: number, message: string, data?: unknown): Error & { readonly code: number } {
  return Object.assign(new Error(message), { code, ...(data !== undefined && { data }) });
}

function isRpcError(error: unknown): error is Error {
  return error instanceof Error && Number.isSafeInteger((error as { code?: unknown }).code);
}
