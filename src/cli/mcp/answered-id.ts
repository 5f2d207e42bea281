/** Which request a line of the daemon answers. Answers can be long and are on the way of every call, so they are not read as a whole. Pure. */
import { isRequestId, type RequestId } from '#lib/json-rpc.ts';

const TAIL_BYTES = 300;
/** Only what belongs to the message itself can stand before the last brace. */
const LAST_ID = /"jsonrpc":"2\.0","id":(-?\d{1,15}|"(?:[^"\\]|\\.){0,200}")\}\s*$/;

export function answeredId(line: Buffer): RequestId | undefined {
  const [, found] = LAST_ID.exec(line.toString('utf8', Math.max(0, line.length - TAIL_BYTES))) ?? [];
  return found === undefined ? idOfWhole(line) : (JSON.parse(found) as RequestId);
}

function idOfWhole(line: Buffer): RequestId | undefined {
  try {
    const { id, method } = JSON.parse(line.toString('utf8')) as { readonly id?: unknown; readonly method?: unknown };
    return method === undefined && isRequestId(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
