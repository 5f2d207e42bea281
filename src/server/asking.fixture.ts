/** The API over a store in memory, and a short way to ask it. */
import { serveMemory } from '../../test/conformance/api/serve-memory.ts';

export interface Asking {
  readonly method?: string;
  readonly type?: string;
  readonly accept?: string;
  /** Bytes go out as they are, anything else as JSON. */
  readonly body?: unknown;
}

export const APPLY = { method: 'PATCH', type: 'application/apply-patch+yaml' };
export const MERGE = { method: 'PATCH', type: 'application/merge-patch+json' };
export const STRATEGIC = { method: 'PATCH', type: 'application/strategic-merge-patch+json' };
export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

export async function askServer() {
  const { connect, stop } = await serveMemory();
  async function ask(path: string, { method = 'GET', type = 'application/json', accept = 'application/json', body }: Asking = {}) {
    const headers = { accept, 'content-type': type };
    const sent = body === undefined ? {} : { body: body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body) };
    const response = await fetch(`${connect.baseUrl}${path}`, { method, headers, ...sent });
    return { code: response.status, body: JSON.parse(await response.text()) };
  }
  return { ask, stop };
}
