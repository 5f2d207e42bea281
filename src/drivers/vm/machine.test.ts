import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeMark, MarkReader } from '#protocol/port-marks.ts';
import { SOCKETS } from './args.ts';
import { Machine } from './machine.ts';

const { signal } = new AbortController();
let run: string;
let qemu: Server;
let dialled: Socket[];
let machine: Machine;

/** As QEMU has it: a socket per port, on which its guest answers. */
beforeEach(async () => {
  run = await mkdtemp(join(tmpdir(), 'agentiso-machine-'));
  dialled = [];
  qemu = createServer((socket) => {
    dialled.push(socket.on('error', () => {}));
    const reader = new MarkReader();
    socket.on('data', (chunk: Buffer) => {
      for (const part of reader.push(chunk)) {
        if ('kind' in part && part.kind === 'open') socket.write(encodeMark({ kind: 'ready', connection: part.connection }));
      }
    });
  });
  qemu.listen(join(run, SOCKETS.control));
  await once(qemu, 'listening');
  machine = new Machine(run);
});

afterEach(async () => {
  await machine.close();
  for (const socket of dialled) socket.destroy();
  qemu.close();
  await rm(run, { recursive: true });
});

/** Only the newest is to be heard. */
const connectTwice = () => Promise.allSettled([machine.connect('control', signal), machine.connect('control', signal)]);

describe('a port of a machine', () => {
  it('is dialled once, by whoever comes first: QEMU hears nobody else meanwhile', async () => {
    expect((await connectTwice()).at(-1)).toMatchObject({ status: 'fulfilled' });
    expect(dialled).toHaveLength(1);
    const [first] = dialled as [Socket];
    first.destroy();
    await expect.poll(() => connectTwice().then((each) => each.at(-1)?.status)).toBe('fulfilled');
    expect(dialled).toHaveLength(2);
  });

  it('is dialled anew for whoever still wants it when the first has given up', async () => {
    qemu.close();
    const [impatient, patient] = [new AbortController(), new AbortController()];
    const first = machine.connect('control', impatient.signal);
    const second = machine.connect('control', patient.signal);
    impatient.abort(new Error('no more'));
    await expect(first).rejects.toThrow('no more');
    qemu.listen(join(run, SOCKETS.control));
    await second;
    expect(dialled).toHaveLength(1);
  });

  it('is spoken to by one after the other, however long the first takes', async () => {
    const said: string[] = [];
    let finish = (): void => {};
    const first = machine.tell(async (stream) => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      said.push(stream.destroyed ? 'cut' : 'first');
    }, signal);
    const second = machine.tell(async () => said.push('second'), signal);
    await expect(machine.tell(async () => said.push('third'), AbortSignal.timeout(50))).rejects.toMatchObject({ name: 'TimeoutError' });
    finish();
    await Promise.all([first, second]);
    expect(said).toEqual(['first', 'second']);
  });

  it('of QEMU itself is dialled anew as well for whoever still wants it', async () => {
    const impatient = new AbortController();
    const first = machine.qmp(impatient.signal);
    const second = machine.qmp(signal);
    impatient.abort(new Error('no more'));
    await expect(first).rejects.toThrow('no more');
    const monitor = createServer((socket) => {
      dialled.push(socket.on('error', () => {}));
      socket.on('data', (chunk) => socket.write(`${JSON.stringify({ id: JSON.parse(String(chunk)).id, return: {} })}\n`));
    });
    monitor.listen(join(run, SOCKETS.qmp));
    await second;
    expect(dialled).toHaveLength(1);
    monitor.close();
  });

  it('is not dialled any more when the machine was let go', async () => {
    qemu.close();
    const waiting = machine.connect('control', signal);
    await machine.close();
    await expect(waiting).rejects.toMatchObject({ reason: 'MachineLetGo' });
    await expect(machine.connect('control', signal)).rejects.toMatchObject({ reason: 'MachineLetGo' });
    await expect(machine.qmp(signal)).rejects.toMatchObject({ reason: 'MachineLetGo' });
  });
});
