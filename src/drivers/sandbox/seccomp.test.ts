import { describe, expect, it } from 'vitest';
import { filterArchitecture, seccompProgram } from './seccomp.ts';

const ALLOW = 'allow';
const EPERM = 'errno 1';
const ENOSYS = 'errno 38';
const EAFNOSUPPORT = 'errno 97';
const X64 = 0xc000003e;
const ARM64 = 0xc00000b7;

interface Call {
  readonly arch: number;
  readonly nr: number;
  readonly args?: readonly bigint[];
}

/** What the kernel would do: the few instructions of classic BPF that a filter may use here. */
function decide(program: Buffer, { arch, nr, args = [] }: Call): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(nr, 0);
  data.writeUInt32LE(arch, 4);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(value, 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; ; at++) {
    if ((at + 1) * 8 > program.length) throw new Error('the program ran over its end');
    const [code, ifTrue, ifFalse] = [program.readUInt16LE(at * 8), program.readUInt8(at * 8 + 2), program.readUInt8(at * 8 + 3)];
    const value = program.readUInt32LE(at * 8 + 4);
    if (code === 0x06) return describeReturn(value);
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else at += holds(code, accumulator, value) ? ifTrue : ifFalse;
  }
}

function holds(code: number, accumulator: number, value: number): boolean {
  if (code === 0x15) return accumulator === value;
  if (code === 0x35) return accumulator >= value;
  if (code === 0x45) return (accumulator & value) !== 0;
  throw new Error(`no such instruction: ${code}`);
}

function describeReturn(value: number): string {
  if (value === 0x7fff0000) return ALLOW;
  if (value === 0x80000000) return 'kill';
  if (value >>> 16 === 5) return `errno ${value & 0xffff}`;
  throw new Error(`no such action: ${value.toString(16)}`);
}

/** The numbers once more, from the kernel's tables and not from the code under test: [name, x64, arm64]. */
const DENIED: readonly (readonly [string, number, number | undefined])[] = [
  ['mount', 165, 40],
  ['umount2', 166, 39],
  ['pivot_root', 155, 41],
  ['chroot', 161, 51],
  ['open_tree', 428, 428],
  ['move_mount', 429, 429],
  ['fsopen', 430, 430],
  ['mount_setattr', 442, 442],
  ['statmount', 457, 457],
  ['listmount', 458, 458],
  ['open_by_handle_at', 304, 265],
  ['name_to_handle_at', 303, 264],
  ['unshare', 272, 97],
  ['setns', 308, 268],
  ['ptrace', 101, 117],
  ['process_vm_readv', 310, 270],
  ['process_vm_writev', 311, 271],
  ['kcmp', 312, 272],
  ['pidfd_getfd', 438, 438],
  ['bpf', 321, 280],
  ['perf_event_open', 298, 241],
  ['userfaultfd', 323, 282],
  ['io_uring_setup', 425, 425],
  ['io_uring_enter', 426, 426],
  ['io_uring_register', 427, 427],
  ['keyctl', 250, 219],
  ['add_key', 248, 217],
  ['request_key', 249, 218],
  ['modify_ldt', 154, undefined],
  ['iopl', 172, undefined],
  ['reboot', 169, 142],
  ['init_module', 175, 105],
  ['finit_module', 313, 273],
  ['kexec_load', 246, 104],
  ['sethostname', 170, 161],
  ['clock_settime', 227, 112],
  ['syslog', 103, 116],
];

/** [name, x64, arm64]: what every program needs. */
const ALLOWED = [
  ['read', 0, 63],
  ['openat', 257, 56],
  ['execve', 59, 221],
  ['futex', 202, 98],
  ['chmod of a file (fchmodat)', 268, 53],
  ['connect', 42, 203],
  ['pidfd_open', 434, 434],
] as const;

describe.each([
  ['x64', X64, { clone: 56, clone3: 435, socket: 41, socketpair: 53, ioctl: 16 }, 1],
  ['arm64', ARM64, { clone: 220, clone3: 435, socket: 198, socketpair: 199, ioctl: 29 }, 2],
] as const)('the filter for %s', (name, arch, numbers, column) => {
  const program = seccompProgram(name);
  const decideOn = (nr: number, ...args: bigint[]) => decide(program, { arch, nr, args });

  it('is whole instructions, few enough for the kernel', () => {
    expect(program.length % 8).toBe(0);
    expect(program.length / 8).toBeLessThan(4096);
  });

  it('kills what calls by the numbers of another architecture', () => {
    for (const other of [0x40000003, arch === X64 ? ARM64 : X64]) expect(decide(program, { arch: other, nr: 0 })).toBe('kill');
  });

  it.each(DENIED.filter((row) => row[column] !== undefined))('refuses %s', (...row) => {
    expect(decideOn(row[column] ?? Number.NaN)).toBe(EPERM);
  });

  it.each(ALLOWED)('allows %s', (...row) => {
    expect(decideOn(row[column])).toBe(ALLOW);
  });

  it('says that there is no clone3, so that the C library uses what the filter can look into', () => {
    expect(decideOn(numbers.clone3)).toBe(ENOSYS);
  });

  it.each([0x80, 0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000])(
    'refuses clone with namespace flag %i',
    (flag) => {
      expect(decideOn(numbers.clone, BigInt(flag) | 17n)).toBe(EPERM);
    },
  );

  it('allows clone for processes and threads', () => {
    expect(decideOn(numbers.clone, 17n)).toBe(ALLOW);
    expect(decideOn(numbers.clone, 0x3d0f00n)).toBe(ALLOW);
  });

  describe.each(['socket', 'socketpair'] as const)('%s', (call) => {
    it.each([
      ['AF_UNIX', 1],
      ['AF_INET', 2],
      ['AF_INET6', 10],
      ['AF_NETLINK', 16],
    ])('allows %s', (_, family) => {
      expect(decideOn(numbers[call], BigInt(family))).toBe(ALLOW);
    });

    it.each([
      ['AF_VSOCK', 40],
      ['AF_PACKET', 17],
      ['AF_ALG', 38],
      ['AF_BLUETOOTH', 31],
      ['AF_KEY', 15],
      ['AF_TIPC', 30],
      ['AF_XDP', 44],
      ['no family', 0],
    ])('knows no %s', (_, family) => {
      expect(decideOn(numbers[call], BigInt(family))).toBe(EAFNOSUPPORT);
      // The kernel takes the family as an int: what stands above must not lead past the filter.
      expect(decideOn(numbers[call], (1n << 32n) | BigInt(family))).toBe(EAFNOSUPPORT);
    });
  });

  it('refuses to put words into a terminal, and no other request', () => {
    for (const request of [0x5412n, 0x541cn]) expect(decideOn(numbers.ioctl, 0n, request)).toBe(EPERM);
    for (const request of [0x5401n, 0x5413n]) expect(decideOn(numbers.ioctl, 0n, request)).toBe(ALLOW);
  });
});

describe('the filter for x64', () => {
  it('knows no calls of x32', () => {
    expect(decide(seccompProgram('x64'), { arch: X64, nr: 0x40000000 + 165 })).toBe(ENOSYS);
  });
});

describe('filterArchitecture', () => {
  it.each([
    ['x64', 'x64'],
    ['arm64', 'arm64'],
    ['riscv64', undefined],
  ])('for %s is %s', (node, expected) => {
    expect(filterArchitecture(node)).toBe(expected);
  });
});
