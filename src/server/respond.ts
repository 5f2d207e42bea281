/** Answers onto the wire. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { emitYaml } from '#lib/emit-yaml.ts';
import type { Answer } from './call.ts';
import { negotiate } from './shape/negotiate.ts';
import type { StatusError } from './status.ts';

export function sendAnswer(response: ServerResponse, answer: Answer, warnings: readonly string[] = []): void {
  response.writeHead(answer.status, answerFields(answer, warnings));
  response.end(answer.body);
}

/** A flat list of names and values, which is what node writes out as it is. */
export function answerFields(
  { status, body, contentType = 'application/json', headers }: Answer,
  warnings: readonly string[] = [],
): string[] {
  const fields: string[] = ['Audit-Id', randomUUID()];
  if (headers?.['Cache-Control'] === undefined) fields.push('Cache-Control', 'no-cache, private');
  // What a 304 says of its body would replace what the client knows of the one it has.
  if (status !== 304) fields.push('Content-Type', contentType, 'Content-Length', String(Buffer.byteLength(body)));
  for (const name in headers) {
    const value = headers[name] as string | string[];
    for (const one of typeof value === 'string' ? [value] : value) fields.push(name, one);
  }
  // Kubernetes gives every warning a header of its own.
  for (const text of warnings) fields.push('Warning', warningOf(text));
  return fields;
}

export function warningOf(text: string): string {
  return `299 - ${JSON.stringify(headerText(text))}`;
}

const MAX_DRAINED_BYTES = 64 * 1024 * 1024;
const ANY_FORM = { canBeTable: true, canBePartial: true };

/** A header is one line of Latin text; the rest of what a field may be called is shown as question marks. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 4_096);
}

export interface Asking {
  readonly accept: string | undefined;
  readonly warnings: readonly string[];
}

export function sendFailure(response: ServerResponse, refusal: StatusError, { accept, warnings }: Asking): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const answer = failureAnswer(refusal, accept);
  const { req: request } = response;
  // A body that was refused is read to its end, or a client that still sends would never see the answer; one without end is cut off.
  const isEndless = answer.status === 413 && Number(request.headers['content-length'] ?? 0) > MAX_DRAINED_BYTES;
  if (isEndless) sendAnswer(response, { ...answer, headers: { ...answer.headers, Connection: 'close' } }, warnings);
  else if (response.shouldKeepAlive || !isSending(request)) sendAnswer(response, answer, warnings);
  else sendBeforeEnd(response, answer, warnings);
}

/** Of a body, by what its head says. */
function isSending({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);
}

/** Who asks for the connection to be closed has the answer at once; closed it is when the body is through, for whoever sends into a closed one loses the answer. */
function sendBeforeEnd(response: ServerResponse, answer: Answer, warnings: readonly string[]): void {
  const { req: request } = response;
  response.writeHead(answer.status, answerFields(answer, warnings));
  response.write(answer.body);
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_DRAINED_BYTES) response.destroy();
  });
  request.once('end', () => response.end());
}

export function failureAnswer({ status }: StatusError, accept: string | undefined): Answer {
  const code = status.code ?? 500;
  const retry = status.details?.retryAfterSeconds;
  const challenge: Record<string, string> = code === 401 ? { 'WWW-Authenticate': 'Bearer' } : {};
  const isYaml = negotiate(accept, ANY_FORM)?.format === 'yaml';
  return {
    status: code,
    body: isYaml ? emitYaml(status) : JSON.stringify(status),
    ...(isYaml ? { contentType: 'application/yaml' } : {}),
    headers: { ...challenge, ...(retry === undefined ? {} : { 'Retry-After': String(retry) }) },
  };
}
