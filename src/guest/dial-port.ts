/** The host's end of a connection over a port of a virtual machine. */
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { UnavailableError } from '#lib/errors.ts';
import { PortConnection } from '#protocol/port-connection.ts';
import { encodeMark, type Mark, MarkReader } from '#protocol/port-marks.ts';

/** What is said before the guest has opened its end is lost: it is said again until it is answered. */
const REPEAT_MS = 50;

/** Resolves when the guest answers on this connection, and none before it is heard any more. Takes over the carrier, also when it rejects. */
export function dialPort(carrier: Duplex, signal: AbortSignal): Promise<Duplex> {
  const name = randomBytes(8).toString('hex');
  return new Promise((resolve, reject) => {
    const sayOpen = () => carrier.write(encodeMark({ kind: 'open', connection: name }));
    const timer = setInterval(sayOpen, REPEAT_MS);
    const settle = () => {
      clearInterval(timer);
      signal.removeEventListener('abort', giveUp);
    };
    const giveUp = () => {
      settle();
      carrier.destroy();
      reject(signal.reason);
    };
    const onReady = (connection: PortConnection) => {
      settle();
      resolve(connection);
    };
    carrier.on('error', () => {});
    carrier.once('close', () => {
      settle();
      reject(new UnavailableError('the machine hung up', { reason: 'MachineHungUp' }));
    });
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp);
    listen(carrier, name, onReady);
    sayOpen();
  });
}

function listen(carrier: Duplex, name: string, onReady: (connection: PortConnection) => void): void {
  const reader = new MarkReader();
  const connection = new PortConnection({ name, carrier, onClose: () => carrier.end() });
  let isReady = false;
  const take = (part: Uint8Array | Mark) => {
    // Until the guest has answered, what comes was meant for others.
    if (!('kind' in part)) return isReady ? connection.receive(part) : undefined;
    if (part.connection !== name) return;
    if (part.kind === 'end') return connection.receiveEnd();
    if (isReady) return;
    isReady = true;
    onReady(connection);
  };
  carrier.on('data', (chunk: Uint8Array) => {
    for (const part of reader.push(chunk)) take(part);
  });
  carrier.once('close', () => connection.cut());
}
