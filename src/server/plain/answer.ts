/** An answer as the bytes of HTTP/1.1, as node:http would write them. */
import { STATUS_CODES } from 'node:http';
import type { Answer } from '../call.ts';
import { answerFields } from '../respond.ts';

/** What ends a line, or is no character of a header. */
const NO_HEADER_TEXT = /[^\t\x20-\x7e\x80-\xff]/;

export interface AnswerOptions {
  readonly isLast: boolean;
  readonly idleSeconds: number;
}

/** Throws where a header would not be one. */
export function answerHead(answer: Answer, { isLast, idleSeconds }: AnswerOptions): string {
  const fields = answerFields(answer);
  let head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? 'unknown'}\r\n`;
  for (let at = 0; at < fields.length; at += 2) {
    const value = fields[at + 1] as string;
    if (NO_HEADER_TEXT.test(value)) throw new TypeError(`${JSON.stringify(value)} cannot be the value of a header`);
    head += `${fields[at]}: ${value}\r\n`;
  }
  const connection = isLast ? 'Connection: close\r\n' : `Connection: keep-alive\r\nKeep-Alive: timeout=${idleSeconds}\r\n`;
  return `${head}Date: ${dateNow()}\r\n${connection}\r\n`;
}

let dateText = '';
let dateSecond = 0;

/** It changes once a second, and takes a while to write. */
function dateNow(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1_000).toUTCString();
  }
  return dateText;
}
