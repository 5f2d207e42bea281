import { describe, expect, it } from 'vitest';
import { plainRequest } from './request.ts';

const read = (text: string) => plainRequest(Buffer.from(text, 'latin1'));

describe('plainRequest', () => {
  it('reads a request without a body', () => {
    const got = read('GET /api/v1/x?a=%20b HTTP/1.1\r\nHost: localhost\r\nAccept:application/json\r\nX-A: \t a b \t\r\nX-Empty:\r\n\r\n');
    expect(got).toEqual({
      method: 'GET',
      path: '/api/v1/x?a=%20b',
      headers: { host: 'localhost', accept: 'application/json', 'x-a': 'a b', 'x-empty': '' },
      body: Buffer.alloc(0),
    });
  });

  it.each(['PUT', 'POST', 'PATCH', 'DELETE'])('reads a %s with its body', (method) => {
    const got = read(`${method} /x HTTP/1.1\r\nConnection: Keep-Alive\r\nContent-Length: 4\r\n\r\na\r\nb`);
    expect([got?.method, got?.body.toString()]).toEqual([method, 'a\r\nb']);
  });

  it('reads headers that it has read before with another request', () => {
    const headers = 'Host: a\r\nContent-Length: 2\r\n\r\n';
    const [first, second] = [read(`PUT /x HTTP/1.1\r\n${headers}ab`), read(`POST /y HTTP/1.1\r\n${headers}cd`)];
    expect([first?.method, first?.path, first?.body.toString()]).toEqual(['PUT', '/x', 'ab']);
    expect([second?.method, second?.path, second?.body.toString()]).toEqual(['POST', '/y', 'cd']);
    expect(second?.headers).toEqual({ host: 'a', 'content-length': '2' });
    expect(read(`PUT /x HTTP/1.1\r\n${headers}abc`)).toBeUndefined();
  });

  it('keeps no token', () => {
    const text = 'GET /x HTTP/1.1\r\nAuthorization: Bearer a\r\n\r\n';
    expect(read(text)?.headers).toEqual({ authorization: 'Bearer a' });
    expect(read(text)?.headers).not.toBe(read(text)?.headers);
  });

  const length = 'Content-Length: 0';
  it.each([
    ['nothing', ''],
    ['half a head', 'GET /x HTTP/1.1\r\nHost: a\r\n'],
    ['half a body', 'PUT /x HTTP/1.1\r\nContent-Length: 4\r\n\r\nab'],
    ['a second request', 'GET /x HTTP/1.1\r\n\r\nGET /y HTTP/1.1\r\n\r\n'],
    ['more than its length', 'PUT /x HTTP/1.1\r\nContent-Length: 1\r\n\r\nab'],
    ['an empty line before it', '\r\nGET /x HTTP/1.1\r\n\r\n'],
    ['a GET with a body', 'GET /x HTTP/1.1\r\nContent-Length: 1\r\n\r\na'],
    ['a body without a length', 'PUT /x HTTP/1.1\r\n\r\n'],
    ['two lengths', `PUT /x HTTP/1.1\r\n${length}\r\n${length}\r\n\r\n`],
    ['a list of lengths', `PUT /x HTTP/1.1\r\n${length}, 0\r\n\r\n`],
    ['a length with a sign', 'PUT /x HTTP/1.1\r\nContent-Length: +0\r\n\r\n'],
    ['a length with a zero before it', 'PUT /x HTTP/1.1\r\nContent-Length: 01\r\n\r\na'],
    ['a length that is no number', 'PUT /x HTTP/1.1\r\nContent-Length: 0x0\r\n\r\n'],
    ['chunks', 'PUT /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a length and chunks', `PUT /x HTTP/1.1\r\n${length}\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ['a header twice', 'GET /x HTTP/1.1\r\nAccept: a\r\naccept: b\r\n\r\n'],
    ['a name that every object has', 'GET /x HTTP/1.1\r\n__proto__: a\r\n\r\n'],
    ['a folded header', 'GET /x HTTP/1.1\r\nX-A: 1\r\n folded\r\n\r\n'],
    ['a space before the colon', 'GET /x HTTP/1.1\r\nX-A : 1\r\n\r\n'],
    ['a header without a name', 'GET /x HTTP/1.1\r\n: 1\r\n\r\n'],
    ['a line that is no header', 'GET /x HTTP/1.1\r\ngarbage\r\n\r\n'],
    ['a bare line end', 'GET /x HTTP/1.1\nX-A: 1\r\n\r\n'],
    ['a bare line end between headers', 'GET /x HTTP/1.1\r\nX-A: 1\nX-B: 2\r\n\r\n'],
    ['a bare carriage return', 'GET /x HTTP/1.1\r\nX-A: 1\rX-B: 2\r\n\r\n'],
    ['a NUL', 'GET /x HTTP/1.1\r\nX-A: a\0b\r\n\r\n'],
    ['what is not ASCII', 'GET /x HTTP/1.1\r\nX-A: \xe4\r\n\r\n'],
    ['what is not ASCII in the path', 'GET /\xe4 HTTP/1.1\r\n\r\n'],
    ['another version', 'GET /x HTTP/1.0\r\n\r\n'],
    ['a target in absolute form', 'GET http://localhost/x HTTP/1.1\r\n\r\n'],
    ['two spaces', 'GET  /x HTTP/1.1\r\n\r\n'],
    ['another method', 'HEAD /x HTTP/1.1\r\n\r\n'],
    ['a method in small letters', 'get /x HTTP/1.1\r\n\r\n'],
    ['the end of the connection', 'GET /x HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['another protocol', 'GET /x HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ['a body that waits', `PUT /x HTTP/1.1\r\nExpect: 100-continue\r\n${length}\r\n\r\n`],
    ['a packed body', `PUT /x HTTP/1.1\r\nContent-Encoding: gzip\r\n${length}\r\n\r\n`],
    ['a long head', `GET /x HTTP/1.1\r\nX-A: ${'a'.repeat(9_000)}\r\n\r\n`],
  ])('leaves %s to others', (_name, text) => {
    expect(read(text)).toBeUndefined();
  });
});
