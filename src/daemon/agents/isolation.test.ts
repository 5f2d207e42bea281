import { describe, expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import type { Driver } from '#drivers/driver.ts';
import { chooseDriver, type DriversHere, poolSizeOf } from './isolation.ts';

const driver = (name: string, isolation: object = {}) =>
  ({ name, isolation: { driver: name, network: 'nftables', limits: 'cgroup2', ...isolation } }) as unknown as Driver;
const sandbox = { mode: 'root', reason: '', limits: 'cgroup2', network: 'nftables' } as const;
const close = async () => undefined;
const HERE: DriversHere = { drivers: [driver('process'), driver('sandbox'), driver('vm', { accel: 'tcg' })], sandbox, close };
const WITHOUT: DriversHere = { ...HERE, drivers: HERE.drivers.slice(0, 2), vm: { reason: 'QEMU is not installed: there is no qemu' } };
const agent = (isolation: object) => ({ spec: { isolation } }) as unknown as Agent;

describe('chooseDriver', () => {
  it.each([
    ['an agent that asks for nothing', {}, HERE, 'sandbox'],
    ['one that asks for nothing where machines are fast', {}, { ...HERE, isVmUsual: true }, 'vm'],
    ['one that asks for a machine, however slow', { driver: 'vm' }, HERE, 'vm'],
    ['one whose team wants no less', { minimum: 'vm' }, HERE, 'vm'],
    ['one that asks for less than there is', { driver: 'process' }, HERE, 'process'],
    ['one whose team wants a sandbox at least', { minimum: 'sandbox' }, WITHOUT, 'sandbox'],
  ])('gives %s what it asks for', (_, isolation, here, expected) => {
    expect(chooseDriver(agent(isolation), here).name).toBe(expected);
  });

  it.each([{ driver: 'vm' }, { minimum: 'vm' }])('gives nothing weaker where there are no machines, and says why: %j', (isolation) => {
    expect(() => chooseDriver(agent(isolation), WITHOUT)).toThrow(
      expect.objectContaining({ reason: 'IsolationUnavailable', message: expect.stringContaining('QEMU is not installed') }),
    );
  });
});

describe('how many are started ahead', () => {
  it.each([
    [undefined, 2],
    ['', 2],
    ['0', 0],
    ['3', 3],
    ['-1', 2],
    ['many', 2],
  ])('is %s of each kind: %i', (asked, size) => expect(poolSizeOf(asked)).toBe(size));
});
