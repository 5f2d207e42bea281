import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResponseReader } from './http-response-reader.ts';

/** All that a caller can see of an answer. */
function read(pieces: readonly Buffer[], method = 'GET') {
  const reader = new ResponseReader(method);
  const body: Buffer[] = [];
  let failure = '';
  try {
    for (const piece of pieces) reader.push(piece, (part) => body.push(part));
    reader.end();
  } catch (error) {
    failure = String(error);
  }
  const { head, isDone, isReusable } = reader;
  return { status: head?.status, headers: { ...head?.headers }, body: Buffer.concat(body).toString('latin1'), failure, isDone, isReusable };
}

const readText = (text: string, method?: string) => read([Buffer.from(text, 'latin1')], method);

function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const length of lengths) {
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return [...pieces, bytes.subarray(at)];
}

const cuts = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 60 });
const bodies = fc
  .array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 5 })
  .map((parts) => parts.map((part) => Buffer.from(part)));
const framings = fc.constantFrom('length', 'chunked', 'close');

interface Sample {
  readonly parts: readonly Buffer[];
  readonly framing: string;
}

function responseOf({ parts, framing }: Sample): Buffer {
  const body = Buffer.concat(parts);
  if (framing === 'close') return Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nX: y\r\n\r\n'), body]);
  if (framing === 'length') return Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: ${body.length}\r\n\r\n`), body]);
  const chunks = parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]);
  return Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nX: y\r\ntransfer-encoding: Chunked\r\n\r\n'), ...chunks, Buffer.from('0\r\n\r\n')]);
}

const samples = fc.record({ parts: bodies, framing: framings });

describe('the reader of answers', () => {
  it('gives what was sent, however it is framed and wherever it is cut', () => {
    fc.assert(
      fc.property(samples, cuts, (sample, lengths) => {
        const got = read(cut(responseOf(sample), lengths));
        expect(got).toMatchObject({
          status: 200,
          body: Buffer.concat(sample.parts).toString('latin1'),
          failure: '',
          isDone: true,
          isReusable: sample.framing !== 'close',
        });
        expect(got.headers['x']).toBe('y');
      }),
    );
  });

  it('says the same of anything, wherever it is cut', () => {
    const damage = fc.array(
      fc.record({ at: fc.nat(200), byte: fc.oneof(fc.constantFrom(10, 13, 32, 48, 58), fc.nat(255)), isAdded: fc.boolean() }),
      {
        maxLength: 3,
      },
    );
    fc.assert(
      fc.property(samples, damage, cuts, (sample, changes, lengths) => {
        const bytes = [...responseOf(sample)];
        for (const { at, byte, isAdded } of changes) bytes.splice(at % (bytes.length + 1), isAdded ? 0 : 1, byte);
        const whole = Buffer.from(bytes);
        expect(read(cut(whole, lengths))).toEqual(read([whole]));
      }),
      { numRuns: 1_000 },
    );
  });

  it('takes noise for noise', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), cuts, (bytes, lengths) => {
        const got = read(cut(Buffer.from(bytes), lengths));
        expect(got.isDone).toBe(false);
        expect(got.status).toBeUndefined();
      }),
    );
  });

  it.each([
    { title: 'after HEAD', method: 'HEAD', text: 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n' },
    { title: 'with 204', method: 'GET', text: 'HTTP/1.1 204 No Content\r\n\r\n' },
    { title: 'with 304', method: 'GET', text: 'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n' },
    { title: 'of no length', method: 'GET', text: 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n' },
  ])('expects no body $title', ({ method, text }) => {
    expect(readText(text, method)).toMatchObject({ body: '', isDone: true, isReusable: true });
  });

  it.each([
    { title: 'the server says so', text: 'HTTP/1.1 200 OK\r\nConnection: x, Close\r\ncontent-length: 0\r\n\r\n' },
    { title: 'the server is of an older time', text: 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n' },
    { title: 'there is more than the answer', text: 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1' },
  ])('leaves the connection alone afterwards when $title', ({ text }) => {
    expect(readText(text)).toMatchObject({ status: 200, failure: '', isDone: true, isReusable: false });
  });

  it.each([
    { title: 'another protocol', text: 'HTTP/2 200 OK\r\n\r\n' },
    { title: 'a change of protocol', text: 'HTTP/1.1 101 Switching\r\n\r\n' },
    { title: 'an empty line first', text: '\r\nHTTP/1.1 200 OK\r\n\r\n' },
    { title: 'a status of two digits', text: 'HTTP/1.1 99 OK\r\n\r\n' },
    { title: 'lines that end in a newline only', text: 'HTTP/1.1 200 OK\n\n' },
    { title: 'a return in the middle of a line', text: 'HTTP/1.1 200 OK\r\na: b\rc: d\r\n\r\n' },
    { title: 'a header that goes on in the next line', text: 'HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n' },
    { title: 'a space before the colon', text: 'HTTP/1.1 200 OK\r\ncontent-length : 5\r\n\r\n' },
    { title: 'a length with a sign', text: 'HTTP/1.1 200 OK\r\ncontent-length: +5\r\n\r\n' },
    { title: 'a length beyond measure', text: `HTTP/1.1 200 OK\r\ncontent-length: ${'9'.repeat(30)}\r\n\r\n` },
    { title: 'the same length twice', text: 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx' },
    { title: 'a coding that is not known', text: 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n' },
    { title: 'a chunk beyond measure', text: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'f'.repeat(13)}\r\n` },
    { title: 'a chunk of negative size', text: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n' },
    { title: 'endless answers before the answer', text: 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(3_000) },
    { title: 'an endless line', text: `HTTP/1.1 200 ${'x'.repeat(70_000)}` },
    { title: 'endless trailers', text: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n${'a: b\r\n'.repeat(12_000)}` },
  ])('refuses $title', ({ text }) => {
    expect(readText(text)).toMatchObject({ failure: expect.stringContaining('the answer'), isDone: false });
  });

  it('takes a header with the name of something every object has as a header', () => {
    expect(readText('HTTP/1.1 200 OK\r\n__proto__: x\r\nconstructor: y\r\ncontent-length: 0\r\n\r\n').headers['constructor']).toBe('y');
  });
});
