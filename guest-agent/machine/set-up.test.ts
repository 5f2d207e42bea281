import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startHelper } from './helper.ts';
import { linkMessages, upMessages } from './netlink.ts';
import { MachineSetUp } from './set-up.ts';

const MACHINE = { seed: 'ab'.repeat(64), timeMs: 5, disk: 'serial', egress: false, tools: { disk: 'tools', place: '/t' } };
const PLACES = { workspace: '/w', stateDir: '/s', home: '/h' };
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-set-up-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Without the one who would change the machine that this test runs on. */
function prepare(problem?: string) {
  const told: string[] = [];
  const afterwards = vi.fn();
  const said = async (word: string) => {
    if (word === 'done' && problem !== undefined) throw new Error(problem);
  };
  const startPretended = vi.fn(() => ({ tell: (lines: readonly string[]) => void told.push(...lines), said, end: () => {} }));
  const inside = (name: string) => join(folder, name);
  const names = { hostname: inside('kernel'), etcHostname: inside('hostname'), etcHosts: inside('hosts') };
  const network = { device: inside('device'), addressMode: inside('mode') };
  return { told, afterwards, startPretended, setUp: new MachineSetUp({ startHelper: startPretended, afterwards, ...names, ...network }) };
}

describe('a machine that gets its identity', () => {
  it('is set up by the helper that was rehearsed with, then named', async () => {
    const { told, afterwards, startPretended, setUp } = prepare();
    await setUp.rehearse(2);
    expect(afterwards).not.toHaveBeenCalled();
    await setUp.apply('name', MACHINE, PLACES);
    expect(told.slice(1)).toEqual(['rehearse', 'rehearse', MACHINE.seed, '5', '', 'serial', '/w', '/s', '/h', 'tools', '/t']);
    expect(['kernel', 'hostname', 'hosts'].map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual([
      'name',
      'name\n',
      '127.0.1.1 name\n',
    ]);
    expect(startPretended).toHaveBeenCalledOnce();
    expect(afterwards).toHaveBeenCalledOnce();
  });

  it('that has its disks already is told the rest, by the same helper', async () => {
    const { told, afterwards, startPretended, setUp } = prepare();
    const { seed, timeMs, disk, tools } = MACHINE;
    for (let round = 0; round < 2; round++) await setUp.giveDisks({ seed, timeMs, disk, tools }, PLACES);
    expect(told.splice(0)).toEqual(['', seed, '5', '', 'serial', '/w', '/s', '/h', 'tools', '/t']);
    expect([readdirSync(folder), afterwards.mock.calls]).toEqual([[], []]);
    await setUp.apply('name', { ...MACHINE, seed: 'cd'.repeat(64), timeMs: 6 }, PLACES);
    expect(told).toEqual(['cd'.repeat(64), '6', '', '', '', '', '', '', '']);
    expect(readFileSync(join(folder, 'kernel'), 'utf8')).toBe('name');
    expect([startPretended.mock.calls.length, afterwards.mock.calls.length]).toEqual([1, 1]);
  });

  it('says why it could not be given its disks, and can be given them later', async () => {
    const { setUp, startPretended } = prepare('disk: no disk is called serial');
    for (let round = 0; round < 2; round++)
      await expect(setUp.giveDisks(MACHINE, PLACES)).rejects.toThrow('the machine could not be prepared: disk: no disk is called serial');
    expect(startPretended).toHaveBeenCalledTimes(2);
  });

  it('is told no more than the time, when it goes on after one', async () => {
    const { told, afterwards, setUp } = prepare();
    await setUp.wake({ seed: MACHINE.seed, timeMs: 7 });
    expect(told).toEqual(['', MACHINE.seed, '7', '', '', '', '', '', '', '']);
    expect([readdirSync(folder), afterwards.mock.calls]).toEqual([[], []]);
    await expect(prepare('clock: no').setUp.wake({ seed: MACHINE.seed, timeMs: 7 })).rejects.toThrow('told what time it is: clock: no');
  });

  it('needs a device where it is given a link, and lets it make no address of its own', async () => {
    const link = { address: '192.0.2.2', mac: '02:00:00:00:00:02', gateway: '192.0.2.1', gatewayMac: '02:00:00:00:00:01' };
    const { told, setUp } = prepare();
    await expect(setUp.apply('name', { ...MACHINE, link }, PLACES)).rejects.toThrow('network: there is no device eth0');
    mkdirSync(join(folder, 'device'));
    writeFileSync(join(folder, 'device', 'ifindex'), '7\n');
    await setUp.apply('name', { ...MACHINE, link }, PLACES);
    expect(readFileSync(join(folder, 'mode'), 'utf8')).toBe('1');
    expect(told).toEqual([
      '',
      upMessages(7).toString('hex'),
      MACHINE.seed,
      '5',
      linkMessages(7, link).toString('hex'),
      'serial',
      '/w',
      '/s',
      '/h',
      'tools',
      '/t',
    ]);
  });

  it('says what failed, and the next try has a helper of its own', async () => {
    const { setUp, startPretended, afterwards } = prepare('disk: no disk is called serial');
    for (let round = 0; round < 2; round++) {
      await expect(setUp.apply('name', MACHINE, PLACES)).rejects.toMatchObject({
        code: 'Unavailable',
        message: 'the machine could not be set up: disk: no disk is called serial',
      });
    }
    expect(startPretended).toHaveBeenCalledTimes(2);
    expect(afterwards).not.toHaveBeenCalled();
  });
});

describe('the helper', () => {
  const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

  it('waits, rehearses, and says at which step it failed', async () => {
    const helper = startHelper(PATH);
    helper.tell(['']);
    await helper.said('ready');
    for (let round = 0; round < 2; round++) {
      helper.tell(['rehearse']);
      await helper.said('rehearsed');
    }
    // One byte of randomness does no harm, and is refused.
    helper.tell(['00']);
    await expect(helper.said('done')).rejects.toThrow('randomness: short seed');
    helper.end();
  });

  it('that cannot be started is heard of', async () => {
    const helper = startHelper(folder);
    helper.tell(['']);
    await expect(helper.said('ready')).rejects.toThrow('spawn perl ENOENT');
  });
});
