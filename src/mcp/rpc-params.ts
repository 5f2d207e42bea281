/** The parameters of a request of MCP, by one of our parsers. What clients send beside them is theirs. */
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Parser } from '#protocol/shape.ts';
import { invalidParams } from './rpc-error.ts';
import type { Params } from './server.ts';

export function paramsOf<T>(parse: Parser<T>, params: Params): T {
  try {
    return parse(params, 'params');
  } catch (error) {
    throw error instanceof ProtocolError ? invalidParams(error.message) : error;
  }
}
