import { describe, expect, it } from 'vitest';
import { formatRequest, parseHead } from './response.ts';

describe('parseHead', () => {
  it.each([
    {
      name: 'a body of known length',
      text: 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\nDate: now\r\n\r\n{"a"',
      want: { status: 200, contentLength: 12, bodyStart: 82 },
    },
    {
      name: 'a length in another case that stands last',
      text: 'HTTP/1.1 409 Conflict\r\ncontent-length:7\r\n\r\n',
      want: { status: 409, contentLength: 7, bodyStart: 43 },
    },
    {
      name: 'a body in chunks',
      text: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
      want: { status: 200, contentLength: undefined, bodyStart: 47 },
    },
    {
      name: 'another header that ends the same',
      text: 'HTTP/1.1 200 OK\r\nX-Content-Length: 5\r\n\r\n',
      want: { contentLength: undefined },
    },
    { name: 'no HTTP at all', text: 'hello\r\n\r\n', want: { status: 0 } },
  ])('reads $name', ({ text, want }) => expect(parseHead(Buffer.from(text))).toMatchObject(want));

  it('waits for the rest', () => expect(parseHead(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n'))).toBeUndefined());
});

describe('formatRequest', () => {
  it('counts bytes, not characters', () => {
    expect(formatRequest({ method: 'PUT', path: '/x', body: '"ä"' })).toMatch(/\r\nContent-Length: 4\r\n\r\n"ä"$/);
  });

  it('sends no body where there is none', () => {
    expect(formatRequest({ method: 'GET', path: '/x' })).toMatch(/^GET \/x HTTP\/1\.1\r\n(?:[\w-]+: [^\r]+\r\n)+\r\n$/);
  });
});
