/**
 * The sandbox's system call filter: what it denies, as tables, and the classic BPF program made of them. Pure.
 * What is not named is allowed: the namespaces and the lack of every capability are the walls, this takes away what pierces walls.
 */
import { type Architecture, type SystemCall, systemCallNumber } from './system-calls.ts';

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const DENIED: readonly SystemCall[] = [
  // Mounts.
  ...(['mount', 'umount2', 'pivot_root', 'chroot', 'open_tree', 'open_tree_attr', 'move_mount', 'fsopen', 'fsconfig', 'fsmount'] as const),
  ...(['fspick', 'mount_setattr', 'statmount', 'listmount', 'name_to_handle_at', 'open_by_handle_at'] as const),
  // Namespaces.
  ...(['unshare', 'setns'] as const),
  // Other processes.
  ...(['ptrace', 'process_vm_readv', 'process_vm_writev', 'kcmp', 'pidfd_getfd', 'move_pages', 'migrate_pages'] as const),
  // Parts of the kernel that no tool of an agent needs and that have often been its weak spot.
  ...(['bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup', 'io_uring_enter', 'io_uring_register', 'keyctl', 'add_key'] as const),
  ...(['request_key', 'lookup_dcookie', 'modify_ldt', 'lsm_set_self_attr'] as const),
  // The machine.
  ...(['reboot', 'swapon', 'swapoff', 'init_module', 'finit_module', 'delete_module', 'kexec_load', 'kexec_file_load', 'iopl'] as const),
  ...([
    'ioperm',
    'sethostname',
    'setdomainname',
    'settimeofday',
    'clock_settime',
    'clock_adjtime',
    'adjtimex',
    'acct',
    'quotactl',
  ] as const),
  ...(['quotactl_fd', 'syslog', 'vhangup'] as const),
];

/** CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const CLONE_NAMESPACES = 0x7e020080;
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. Among the others are some that no network namespace holds back. */
const SOCKET_FAMILIES = [1, 2, 10, 16];
/** TIOCSTI and TIOCLINUX put words into somebody else's terminal. */
const TERMINAL_REQUESTS = [0x5412, 0x541c];

const AUDIT_ARCHITECTURES: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** x86-64 with short pointers: other numbers for the same calls. */
const X32_BIT = 0x40000000;

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER_EQUAL = 0x35;
const JUMP_SET = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const errno = (code: number) => 0x00050000 | code;

/** Offsets in struct seccomp_data. Of an argument the lower half is enough: those looked at are all ints. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number) => 16 + 8 * index;

interface Instruction {
  readonly code: number;
  readonly ifTrue: number;
  readonly ifFalse: number;
  readonly value: number;
}

const load = (value: number): Instruction => ({ code: LOAD, ifTrue: 0, ifFalse: 0, value });
const give = (value: number): Instruction => ({ code: RETURN, ifTrue: 0, ifFalse: 0, value });
const jump = (code: number, value: number, { ifTrue = 0, ifFalse = 0 }: { ifTrue?: number; ifFalse?: number }): Instruction => {
  return { code, ifTrue, ifFalse, value };
};

/** `block` is for that call alone and returns in every case: what it loads is of no concern to what follows. */
function forCall(call: SystemCall, architecture: Architecture, block: readonly Instruction[]): Instruction[] {
  const number = systemCallNumber(call, architecture);
  return number === undefined ? [] : [jump(JUMP_EQUAL, number, { ifFalse: block.length }), ...block];
}

const refuseNamespaces = [load(argument(0)), jump(JUMP_SET, CLONE_NAMESPACES, { ifFalse: 1 }), give(errno(EPERM)), give(ALLOW)];

const refuseFamilies = [
  load(argument(0)),
  ...SOCKET_FAMILIES.map((family, index) => jump(JUMP_EQUAL, family, { ifTrue: SOCKET_FAMILIES.length - index })),
  give(errno(EAFNOSUPPORT)),
  give(ALLOW),
];

const refuseRequests = [
  load(argument(1)),
  ...TERMINAL_REQUESTS.map((request, index) => jump(JUMP_EQUAL, request, { ifTrue: TERMINAL_REQUESTS.length - index })),
  give(ALLOW),
  give(errno(EPERM)),
];

function instructions(architecture: Architecture): Instruction[] {
  return [
    load(ARCHITECTURE),
    jump(JUMP_EQUAL, AUDIT_ARCHITECTURES[architecture], { ifTrue: 1 }),
    give(KILL_PROCESS),
    load(NUMBER),
    ...(architecture === 'x64' ? [jump(JUMP_GREATER_EQUAL, X32_BIT, { ifFalse: 1 }), give(errno(ENOSYS))] : []),
    ...DENIED.flatMap((call) => forCall(call, architecture, [give(errno(EPERM))])),
    // Its flags lie in memory, where the filter cannot look; without it the C library uses clone.
    ...forCall('clone3', architecture, [give(errno(ENOSYS))]),
    ...forCall('clone', architecture, refuseNamespaces),
    ...forCall('socket', architecture, refuseFamilies),
    ...forCall('socketpair', architecture, refuseFamilies),
    ...forCall('ioctl', architecture, refuseRequests),
    give(ALLOW),
  ];
}

/** As bubblewrap reads it: struct sock_filter after struct sock_filter. Both architectures are little-endian. */
export function seccompProgram(architecture: Architecture): Buffer {
  return Buffer.concat(
    instructions(architecture).map(({ code, ifTrue, ifFalse, value }) => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt16LE(code, 0);
      bytes.writeUInt8(ifTrue, 2);
      bytes.writeUInt8(ifFalse, 3);
      bytes.writeUInt32LE(value, 4);
      return bytes;
    }),
  );
}

/** undefined: no filter is known for it, so there is no sandbox. */
export function filterArchitecture(nodeArchitecture: string): Architecture | undefined {
  return nodeArchitecture === 'x64' || nodeArchitecture === 'arm64' ? nodeArchitecture : undefined;
}
