import { describe, expect, it } from 'vitest';
import { Handshake, isOwnId } from './handshake.ts';

const request = (id: number, method: string, params = {}) => ({ jsonrpc: '2.0' as const, id, method, params });
const INITIALIZE = request(0, 'initialize', { protocolVersion: '2025-06-18' });

function introduced(): Handshake {
  const handshake = new Handshake();
  handshake.said(INITIALIZE);
  handshake.answered(0);
  return handshake;
}

describe('Handshake', () => {
  it('has nothing to say for a client that was never accepted', () => {
    const handshake = new Handshake();
    handshake.said(request(7, 'tools/list'));
    handshake.answered(7);
    handshake.said(INITIALIZE);
    expect([handshake.isAccepted, handshake.again()]).toEqual([false, []]);
  });

  it('introduces the client as it did itself, under ids of its own', () => {
    const handshake = introduced();
    handshake.said({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const [first, second, ...rest] = handshake.again();
    expect(first).toMatchObject({ method: 'initialize', params: INITIALIZE.params });
    expect(isOwnId(first?.id)).toBe(true);
    expect([second, rest]).toEqual([{ jsonrpc: '2.0', method: 'notifications/initialized' }, []]);
  });

  it('asks again for what the client follows now', () => {
    const handshake = introduced();
    handshake.said(request(1, 'resources/subscribe', { uri: 'a' }));
    handshake.said(request(2, 'resources/subscribe', { uri: 'b' }));
    handshake.said(request(3, 'resources/unsubscribe', { uri: 'a' }));
    handshake.said(request(4, 'logging/setLevel', { level: 'info' }));
    expect(handshake.followed).toEqual(['b']);
    expect(handshake.again().map(({ method, params }) => [method, params])).toEqual([
      ['initialize', INITIALIZE.params],
      ['logging/setLevel', { level: 'info' }],
      ['resources/subscribe', { uri: 'b' }],
    ]);
  });

  it('never gives the same id twice', () => {
    const handshake = introduced();
    handshake.said(request(1, 'resources/subscribe', { uri: 'a' }));
    const ids = [...handshake.again(), ...handshake.again()].map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
  });

  it.each([
    [undefined, false],
    [5, false],
    ['x', false],
  ])("the id %j is a client's", (id, want) => {
    expect(isOwnId(id)).toBe(want);
  });
});
