import { describe, expect, it } from 'vitest';
import { encodeCommand, readReply } from './redis-protocol.ts';

const read = (text: string) => readReply(Buffer.from(text), 0)?.reply;

describe('the Redis protocol', () => {
  it('counts bytes, not characters', () => expect(encodeCommand(['SET', 'ä'])).toBe('*2\r\n$3\r\nSET\r\n$2\r\nä\r\n'));

  it.each([
    ['+OK\r\n', 'OK'],
    [':42\r\n', 42],
    ['$3\r\nabc\r\n', 'abc'],
    ['$0\r\n\r\n', ''],
    ['$-1\r\n', null],
    ['*-1\r\n', null],
    ['*2\r\n$1\r\na\r\n*1\r\n:7\r\n', ['a', [7]]],
  ])('%j', (text, reply) => expect(read(text)).toEqual(reply));

  it('a refusal is an error', () => expect(read('-ERR no such thing\r\n')).toEqual(new Error('ERR no such thing')));

  it('waits for the rest, wherever the data is cut', () => {
    const whole = '*2\r\n$5\r\nab\r\nc\r\n:1\r\n';
    for (let cut = 0; cut < whole.length; cut += 1) expect(read(whole.slice(0, cut)), `cut at ${cut}`).toBeUndefined();
    expect(readReply(Buffer.from(`${whole}+NEXT\r\n`), 0)).toEqual({ reply: ['ab\r\nc', 1], end: whole.length });
  });

  it('anything else is refused', () => expect(() => read('hello\r\n')).toThrow('not a Redis reply'));
});
