import { describe, expect, it } from 'vitest';
import { idOf, idOfCut, messageProblem } from './json-rpc.ts';

describe('messageProblem', () => {
  it.each([
    { jsonrpc: '2.0', method: 'ping', id: 0 },
    { jsonrpc: '2.0', method: 'ping', id: 'a', params: {} },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 1, result: {} },
    { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } },
  ])('%j is a message', (value) => {
    expect(messageProblem(value)).toBeUndefined();
  });

  it.each([
    [null, 'a message must be an object'],
    [[], 'a message must be an object'],
    [{ method: 'ping', id: 1 }, 'jsonrpc must be "2.0"'],
    [{ jsonrpc: '2.0', method: 'ping', id: null }, 'id must be a string or a whole number'],
    [{ jsonrpc: '2.0', method: 'ping', id: 1.5 }, 'id must be a string or a whole number'],
    [{ jsonrpc: '2.0', method: 7, id: 1 }, 'method must be a string'],
    [{ jsonrpc: '2.0', method: 'ping', params: [] }, 'params must be an object'],
    [{ jsonrpc: '2.0', id: 1 }, 'a message needs a method, or an id with a result or an error'],
    [{ jsonrpc: '2.0', result: {} }, 'a message needs a method, or an id with a result or an error'],
  ])('%j is none: %s', (value, message) => {
    expect(messageProblem(value)).toEqual({ code: -32600, message });
  });
});

describe('idOf', () => {
  it.each([
    [{ id: 3 }, 3],
    [{ id: 'x' }, 'x'],
    [{ id: {} }, null],
    [undefined, null],
  ])('%j: %j', (value, id) => {
    expect(idOf(value)).toBe(id);
  });
});

describe('idOfCut', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":5,"method":"x","params":{"a":"', '..."}}\n', 5],
    ['{"id":"a\\"b","method":"x","params":{"a":"', '..."}}', 'a"b'],
    ['{"method":"x","params":{"a":"', '..."},"jsonrpc":"2.0","id":17}\n', 17],
    ['{"method":"x","params":{"a":"', '..."},"id":"q","jsonrpc":"2.0"}\n', 'q'],
    // An id inside of the parameters is another one.
    ['{"method":"x","params":{"a":"', '...","id":9}}\n', null],
    ['{"params":{"id":4', '}', null],
    ['', '', null],
  ])('%s … %s: %j', (head, tail, id) => {
    expect(idOfCut({ head, tail })).toBe(id);
  });
});
