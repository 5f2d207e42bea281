import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '#lib/log.ts';
import { type AccelerationOptions, withAcceleration } from './acceleration.ts';
import { kvmAccess, parseTscKhz, type VmSupport } from './support.ts';

const SUPPORT = { accel: 'tcg', board: 'microvm', version: 'QEMU 7', isRoot: true } as VmSupport;
const IMAGE = { hash: 'h', kernel: '/images/vmlinux', initrd: '/images/initrd', root: '/images/root' };
let directory: string;
let device: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agentiso-accel-'));
  device = join(directory, 'kvm');
  await writeFile(device, '');
  await chmod(device, 0o666);
});

afterEach(() => rm(directory, { recursive: true }));

async function accelOf(options: Partial<AccelerationOptions> = {}): Promise<string> {
  return (await withAcceleration({ directory, image: IMAGE, support: SUPPORT, log: silentLogger, device, ...options })).accel;
}

describe('acceleration', () => {
  it('is emulation where there is no device, where it is closed to others than root, and without an image to try', async () => {
    expect(await accelOf({ image: undefined })).toBe('tcg');
    expect(await accelOf({ device: join(directory, 'none') })).toBe('tcg');
    await chmod(device, 0o600);
    expect(await accelOf()).toBe('tcg');
  });

  it('is what somebody asks for, as far as it is there', async () => {
    expect(await accelOf({ asked: 'kvm' })).toBe('kvm');
    expect(await accelOf({ asked: 'tcg' })).toBe('tcg');
    expect(await accelOf({ asked: 'kvm', device: join(directory, 'none') })).toBe('tcg');
  });

  it('is tried, and a trial that fails is remembered until something is another', async () => {
    // There is no such QEMU: as good as one whose guest never answers.
    const support = { ...SUPPORT, qemu: '/nowhere/qemu', host: { directories: [], links: [], etc: [] } } as VmSupport;
    expect(await accelOf({ support, trialMs: 2_000 })).toBe('tcg');
    const path = join(directory, 'acceleration.json');
    const answer = JSON.parse(await readFile(path, 'utf8'));
    expect(answer).toMatchObject({ works: false });
    await writeFile(path, JSON.stringify({ ...answer, works: true }));
    expect(await accelOf({ support })).toBe('kvm');
    expect(await accelOf({ support: { ...support, version: 'QEMU 8' }, trialMs: 2_000 })).toBe('tcg');
  });
});

describe('kvmAccess', () => {
  it.each([
    [0o666, 'all'],
    [0o600, undefined],
  ])('of mode %o is %s', async (mode, expected) => {
    await chmod(device, mode);
    expect(kvmAccess(device)).toBe(expected);
  });
});

describe('parseTscKhz', () => {
  it.each([
    ['cpu MHz\t\t: 2793.436\nflags\t\t: fpu constant_tsc sse\n', 2_793_436],
    ['cpu MHz\t\t: 2793.436\nflags\t\t: fpu sse\n', undefined],
    ['flags\t\t: fpu constant_tsc\n', undefined],
  ])('of %j is %s', (cpuinfo, expected) => {
    expect(parseTscKhz(cpuinfo)).toBe(expected);
  });
});
