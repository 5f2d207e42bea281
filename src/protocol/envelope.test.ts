import { describe, expect, it } from 'vitest';
import { common } from './common.ts';
import { control } from './control.ts';
import { parseEnvelope } from './envelope.ts';
import { ProtocolError } from './protocol-error.ts';

describe('the parsers of methods', () => {
  it.each([
    { name: 'a shell command', value: { command: 'true', timeoutMs: 1 } },
    { name: 'an argv with everything', value: { argv: ['ls', '-l'], cwd: 'src', env: { A: 'b' }, timeoutMs: 3_600_000 } },
  ])('take $name', ({ value }) => {
    expect(control.exec.params(value, 'exec')).toEqual(value);
  });

  it.each([
    { name: 'no object', value: null },
    { name: 'neither command nor argv', value: { timeoutMs: 1 } },
    { name: 'command and argv', value: { command: 'true', argv: ['true'], timeoutMs: 1 } },
    { name: 'an empty argv', value: { argv: [], timeoutMs: 1 } },
    { name: 'an argv with a number', value: { argv: ['sleep', 1], timeoutMs: 1 } },
    { name: 'no timeout', value: { command: 'true' } },
    { name: 'a timeout of an hour and a bit', value: { command: 'true', timeoutMs: 3_600_001 } },
    { name: 'a timeout that is not whole', value: { command: 'true', timeoutMs: 1.5 } },
    { name: 'a variable that is a number', value: { command: 'true', timeoutMs: 1, env: { A: 1 } } },
    { name: 'an environment that is a list', value: { command: 'true', timeoutMs: 1, env: ['A=1'] } },
  ])('refuse exec params with $name', ({ value }) => {
    expect(() => control.exec.params(value, 'exec')).toThrowError(ProtocolError);
  });

  it('drop fields that do not belong to a result', () => {
    const result = { version: '1', generation: 1, uptimeMs: 2 };
    expect(common.ping.result({ ...result, extra: true }, 'ping')).toEqual(result);
  });
});

describe('parseEnvelope', () => {
  it.each([
    { name: 'request', value: { id: 1, type: 'ping', params: {} } },
    { name: 'answer', value: { id: 1, result: {} } },
    { name: 'answer', value: { id: 1, error: { code: 'Invalid', message: 'no' } } },
    { name: 'cancel', value: { id: 1, type: 'cancel' } },
    { name: 'stream', value: { id: 1, type: 'data', side: 'caller', stream: 'stdin', data: 'eA==' } },
    { name: 'stream', value: { id: 1, type: 'eof', side: 'handler', stream: 'stdout' } },
    { name: 'stream', value: { id: 1, type: 'credit', side: 'caller', stream: 'stdout', bytes: 7 } },
    { name: 'close', value: { type: 'close', error: { code: 'Invalid', message: 'no' } } },
  ])('finds the $name in $value', ({ name, value }) => {
    expect(parseEnvelope(value)).toEqual({ kind: name, [name]: value });
  });

  it.each([
    { value: 'ping' },
    { value: [] },
    { value: {} },
    { value: { id: 0, type: 'ping' } },
    { value: { id: '1', type: 'ping' } },
    { value: { id: 1, type: 7 } },
    { value: { id: 1 } },
    { value: { id: 1, result: {}, error: { code: 'Invalid', message: 'no' } } },
    { value: { id: 1, type: 'ping', deadlineMs: 0 } },
    { value: { id: 1, type: 'data', side: 'both', stream: 'a', data: '' } },
    { value: { id: 1, type: 'credit', side: 'caller', stream: 'a', bytes: 0 } },
  ])('refuses $value', ({ value }) => {
    expect(() => parseEnvelope(value)).toThrowError(ProtocolError);
  });

  it('keeps the message of an error with an unknown code', () => {
    expect(parseEnvelope({ id: 1, error: { code: 'Brandnew', message: 'why' } })).toMatchObject({
      answer: { error: { code: 'Internal', message: 'why' } },
    });
  });
});
