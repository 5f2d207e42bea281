import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { drained, written } from '#lib/drained.ts';
import { sizeOf } from './exec.ts';
import { exitStatus, lostStatus } from './exit-status.ts';
import { portsOf } from './forward-channels.ts';
import { portOf } from './forwarding.ts';
import { join } from './join.ts';
import { RunningStreams } from './running.ts';

describe('how a command ended', () => {
  it('is a Status as clients read it', () => {
    expect(exitStatus(0)).toEqual({ metadata: {}, status: 'Success' });
    expect(exitStatus(3)).toEqual({
      metadata: {},
      status: 'Failure',
      message: 'command terminated with non-zero exit code: exit status 3',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '3' }] },
    });
    expect(lostStatus(new Error('gone'))).toMatchObject({
      status: 'Failure',
      reason: 'InternalError',
      message: 'Internal error occurred: gone',
    });
  });

  it('is not our failure when the agent has gone', () => {
    const lost = Object.assign(new Error('connection closed: the peer hung up'), { code: 'Unavailable' });
    expect(lostStatus(lost)).toMatchObject({ status: 'Failure', message: 'the agent ended, or was stopped, before the command did' });
  });
});

describe('the size of a terminal', () => {
  it.each([
    ['{"Width":80,"Height":24}', { rows: 24, cols: 80 }],
    ['{"Width":0,"Height":24}', undefined],
    ['{"Width":80.5,"Height":24}', undefined],
    ['{"Width":99999,"Height":24}', undefined],
    ['{"Width":"80"}', undefined],
    ['null', undefined],
    ['{', undefined],
  ])('%s', (text, expected) => {
    expect(sizeOf(text)).toEqual(expected);
  });
});

describe('ports', () => {
  it('are whole numbers that a port can have', () => {
    expect(['1', '80', '65535', '0', '65536', '-1', '80x', '', '0x50', '8e1'].map(portOf)).toEqual([
      1,
      80,
      65_535,
      ...Array(7).fill(undefined),
    ]);
    expect(portsOf(new URLSearchParams('ports=80,81&ports=82'))).toEqual([80, 81, 82]);
    expect(() => portsOf(new URLSearchParams(''))).toThrow('"ports" is required');
    expect(() => portsOf(new URLSearchParams('ports=80,x'))).toThrow('"x", which is no port');
    expect(() => portsOf(new URLSearchParams(Array(65).fill('ports=1').join('&')))).toThrow('at most 64');
  });
});

describe('streams of a user', () => {
  it('are counted, and end together', () => {
    const streams = new RunningStreams();
    const places = Array.from({ length: 64 }, () => streams.enter('eve'));
    expect(() => streams.enter('eve')).toThrow('eve has 64 streams open');
    const other = streams.enter('adam');
    places[0]?.leave();
    streams.enter('eve');
    streams.end('eve');
    expect([places[1]?.signal.aborted, other.signal.aborted]).toEqual([true, false]);
    streams.end();
    expect(other.signal.aborted).toBe(true);
  });
});

describe('waiting for a reader', () => {
  it('ends when it reads, or goes', async () => {
    const stream = new PassThrough({ highWaterMark: 1 });
    const waiting = written(stream, Buffer.from('xx'));
    stream.resume();
    await waiting;
    const stuck = new Writable({ highWaterMark: 1, write: () => {} });
    const forever = written(stuck, Buffer.from('xx'));
    stuck.destroy();
    await forever;
    await drained(stuck);
    await written(stuck, Buffer.from('nobody'));
  });
});

describe('many that wait for one reader', () => {
  it('all go on when it reads, and listen to it only once', async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => warnings.push(message);
    process.on('warning', onWarning);
    const stream = new PassThrough({ highWaterMark: 1 });
    const before = listeners(stream);
    const waiting = Array.from({ length: 40 }, () => written(stream, Buffer.from('xx')));
    expect(listeners(stream) - before).toBeLessThanOrEqual(2);
    stream.resume();
    await Promise.all(waiting);
    // And again, with others.
    stream.pause();
    const again = [written(stream, Buffer.from('xx')), drained(stream)];
    expect(stream.writableNeedDrain).toBe(true);
    stream.resume();
    await Promise.all(again);
    stream.pause();
    const left = Array.from({ length: 40 }, () => written(stream, Buffer.from('xx')));
    stream.destroy();
    await Promise.all(left);
    // Warnings come a turn later.
    await new Promise(setImmediate);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
    expect(listeners(stream)).toBeLessThanOrEqual(before);
  });

  const listeners = (stream: PassThrough) => stream.listenerCount('drain') + stream.listenerCount('close');
});

describe('two joined ends', () => {
  const pair = () => {
    const [to, from] = [new PassThrough(), new PassThrough()];
    return { to, from };
  };

  it('fail together', async () => {
    const { to } = pair();
    const target = new PassThrough();
    const joined = join(to, target);
    target.destroy(new Error('refused'));
    await expect(joined).rejects.toThrow('refused');
    expect(to.destroyed).toBe(true);
  });

  it('end when the client is gone', async () => {
    const { to } = pair();
    const target = new PassThrough();
    const joined = join(to, target);
    to.destroy();
    await joined;
    expect(target.destroyed).toBe(true);
  });
});
