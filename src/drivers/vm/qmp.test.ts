import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SocketPair, socketPair } from '../../../test/support/socket-pair.ts';
import { Qmp, type QmpEvent } from './qmp.ts';

let pair: SocketPair;

beforeEach(async () => {
  pair = await socketPair();
});

afterEach(() => pair.destroy());

/** Answers as QEMU does, each line in two pieces. */
function answer(respond: (message: { execute: string; id: number }) => object | undefined): void {
  pair.far.write('{"QMP": {"version": {}}}\r\n');
  pair.far.on('data', (chunk) => {
    for (const line of String(chunk).split('\n').filter(Boolean)) {
      const response = respond(JSON.parse(line));
      if (response === undefined) continue;
      const text = `${JSON.stringify(response)}\r\n`;
      pair.far.write(text.slice(0, 9));
      setImmediate(() => pair.far.write(text.slice(9)));
    }
  });
}

describe('Qmp', () => {
  it('gives results, complaints and events', async () => {
    const events: QmpEvent[] = [];
    answer(({ execute, id }) =>
      execute === 'nonsense' ? { id, error: { class: 'CommandNotFound', desc: 'no such command' } } : { id, return: { execute } },
    );
    const qmp = await Qmp.open(pair.near, (event) => events.push(event));
    expect(await qmp.execute('query-status')).toEqual({ execute: 'query-status' });
    await expect(qmp.execute('nonsense')).rejects.toMatchObject({ message: 'QEMU: no such command' });
    pair.far.write('{"event": "SHUTDOWN", "data": {"reason": "guest-reset"}}\n');
    await qmp.execute('query-status');
    expect(events).toEqual([{ event: 'SHUTDOWN', data: { reason: 'guest-reset' } }]);
  });

  it('rejects when QEMU is silent, and when it goes away', async () => {
    answer(({ execute, id }) => (execute === 'qmp_capabilities' ? { id, return: {} } : undefined));
    const qmp = await Qmp.open(pair.near);
    await expect(qmp.execute('query-status', {}, 30)).rejects.toMatchObject({ code: 'Timeout' });
    const waiting = qmp.execute('query-status');
    pair.far.destroy();
    await expect(waiting).rejects.toMatchObject({ reason: 'MachineGone' });
    await expect(qmp.execute('query-status')).rejects.toMatchObject({ reason: 'MachineGone' });
  });
});
