/** An answer that is ours and not the provider's, in a form that clients of all of them show to people. */
import type { ServerResponse } from 'node:http';

export interface ProviderError {
  readonly status: number;
  /** For programs, also in X-Agentiso-Reason. */
  readonly reason: string;
  readonly message: string;
}

/** As each provider calls it: clients look at these words to decide whether to try again. */
const TYPES: Readonly<Record<number, readonly [type: string, status: string]>> = {
  400: ['invalid_request_error', 'INVALID_ARGUMENT'],
  401: ['authentication_error', 'UNAUTHENTICATED'],
  403: ['permission_error', 'PERMISSION_DENIED'],
  404: ['not_found_error', 'NOT_FOUND'],
};

export function answerError(response: ServerResponse, { status, reason, message }: ProviderError): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const [type, word] = TYPES[status] ?? ['api_error', 'UNAVAILABLE'];
  const body = `${JSON.stringify({ type: 'error', error: { type, code: reason, status: word, message: `agentiso: ${message}` } })}\n`;
  const length = String(Buffer.byteLength(body));
  response
    .writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': length, 'X-Agentiso-Reason': reason, Connection: 'close' })
    .end(body);
}
