/** One request of node's HTTP server through the SDK's transport, which speaks in web objects, and its answer onto the wire at the client's pace. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';

/** Resolves when the answer is over. The body was read before. */
export async function answerHttp(
  transport: WebStandardStreamableHTTPServerTransport,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  parsedBody: unknown,
): Promise<void> {
  const over = closed(response);
  const { status, headers, body } = await transport.handleRequest(toWeb(request), { parsedBody });
  response.writeHead(status, Object.fromEntries(headers.entries()));
  if (body) await passOn(body.getReader(), response, over);
  response.end();
  await over;
}

/** Also one whose client was gone before anybody listened. */
function closed(response: ServerResponse): Promise<void> {
  const isGone = response.destroyed || response.socket === null || response.socket.destroyed;
  return isGone ? Promise.resolve() : new Promise((resolve) => response.once('close', resolve));
}

/** As much of one as the transport looks at. */
function toWeb({ method, url, headers }: IncomingMessage): Request {
  const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return { method, url: `https://localhost${url}`, headers: new Headers(given) } as unknown as Request;
}

/** A client that is gone is told to whoever writes by a stream that nobody reads. */
async function passOn(reader: ReadableStreamDefaultReader<Uint8Array>, response: ServerResponse, over: Promise<void>): Promise<void> {
  // Whoever follows is told at once that it is heard, also when there is nothing to say yet.
  response.flushHeaders();
  void over.then(() => reader.cancel()).catch(() => {});
  for (;;) {
    const { done, value } = await reader.read();
    if (done || response.destroyed) return;
    if (!response.write(value)) await Promise.race([over, new Promise<void>((resolve) => response.once('drain', resolve))]);
  }
}
