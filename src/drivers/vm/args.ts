/** The command line of QEMU: what a machine is made of. Pure. The paths are those it sees in the confinement that launch.ts makes. */

import { TAP } from '#lib/machine-tap.ts';

export type Acceleration = 'kvm' | 'tcg';

/** microvm has less and starts sooner; q35 works where the former's clock cannot be told the speed of the processor. */
export type Board = 'microvm' | 'q35';

export interface MachinePlan {
  readonly board: Board;
  readonly accel: Acceleration;
  /** The speed of this machine's time stamp counter: microvm under tcg cannot find it out and would hang. */
  readonly tscKhz?: number;
  readonly vcpus: number;
  readonly memoryMiB: number;
  readonly hasNetwork: boolean;
  /** Of the disk with its tools. Absent: it has none. */
  readonly toolsGiB?: number;
  /** How its host comes in. Absent: by virtio ports. */
  readonly transport?: 'vsock';
  /**
   * Absent: ordinary memory. template: a file that keeps it. copy: of such a file, whose pages it shares until it writes to them.
   * saved: ordinary memory, which is read together with the rest of its state.
   */
  readonly memory?: 'template' | 'copy' | 'saved';
}

/** Where things are, as QEMU sees it. */
export const INSIDE = {
  run: '/run/vm',
  kernel: '/machine/kernel',
  initrd: '/machine/initrd',
  root: '/machine/root',
  disk: '/machine/disk',
  tools: '/machine/tools',
  memory: '/machine/memory',
  vsock: '/machine/vsock',
} as const;

/** In the run directory, which is where QEMU is: the kernel limits paths of sockets, not how deep a directory lies. */
export const SOCKETS = {
  control: 'control.sock',
  relay: 'relay.sock',
  /** Of the port. The proxy's own, in the same directory, is egress.sock as for every workspace. */
  egress: 'egress-port.sock',
  qmp: 'qmp.sock',
  migration: 'migration.sock',
  /** Of the program that has the machine's vsock: what the host connects to, and what QEMU does. */
  vsock: 'vsock.sock',
  vsockDevice: 'vsock-device.sock',
} as const;

/** The serial number of the disk that holds the workspace. Not `workspace`: the guest agent mounts it, when it is told to, not the init. */
export const DISK_SERIAL = 'agentiso-disk';
/** Of the disk with its tools, which is found and mounted the same way. */
export const TOOLS_SERIAL = 'agentiso-tools';

/**
 * Until the guest is told the time, its clock is far ahead (the year 2090). OpenSSL draws fresh randomness when the clock has gone back, and
 * only then can be sure of two copies of one machine that they do not draw the same.
 */
const CLOCK_AHEAD = 3_786_912_000;

export function qemuArguments(plan: MachinePlan): string[] {
  const { board, memoryMiB, vcpus } = plan;
  const device = (name: string) => (board === 'microvm' ? `${name}-device` : `${name}-pci`);
  return [
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
    ...['-M', boardOptions(plan), ...accelOptions(plan), '-smp', String(vcpus), '-m', `${memoryMiB}M`],
    ...memoryOptions(plan),
    ...['-kernel', INSIDE.kernel, '-initrd', INSIDE.initrd, '-append', kernelWords(plan).join(' ')],
    ...['-chardev', 'stdio,id=console,signal=off', '-serial', 'chardev:console'],
    ...['-qmp', `unix:${SOCKETS.qmp},server=on,wait=off`],
    ...(plan.transport === 'vsock' ? vsock(device) : ports(device)),
    ...['-drive', `if=none,id=root,file=${INSIDE.root},format=raw,readonly=on`],
    ...['-device', `${device('virtio-blk')},drive=root,serial=root`],
    ...['-drive', `if=none,id=disk,file=${INSIDE.disk},format=raw,discard=unmap,detect-zeroes=unmap`],
    ...['-device', `${device('virtio-blk')},drive=disk,serial=${DISK_SERIAL}`],
    ...(plan.toolsGiB === undefined
      ? []
      : [
          ...['-drive', `if=none,id=tools,file=${INSIDE.tools},format=raw,readonly=on`],
          ...['-device', `${device('virtio-blk')},drive=tools,serial=${TOOLS_SERIAL}`],
        ]),
    ...(plan.hasNetwork
      ? ['-netdev', `tap,id=net,ifname=${TAP},script=no,downscript=no`, '-device', `${device('virtio-net')},netdev=net`]
      : []),
    ...(plan.memory === 'copy' || plan.memory === 'saved' ? ['-incoming', 'defer'] : []),
  ];
}

/** Its memory always has the same name: what is saved of one machine is read into another by it. */
function boardOptions({ board }: MachinePlan): string {
  const options = board === 'microvm' ? ['microvm'] : ['q35', 'usb=off', 'smbus=off', 'sata=off'];
  return [...options, 'memory-backend=memory'].join(',');
}

/** Translated code is kept in 32 MiB: more makes machines larger and hardly faster. */
function accelOptions({ accel }: MachinePlan): string[] {
  return accel === 'kvm' ? ['-accel', 'kvm', '-cpu', 'host'] : ['-accel', 'tcg,thread=multi,tb-size=32', '-cpu', 'max'];
}

function memoryOptions({ memory, memoryMiB, transport }: MachinePlan): string[] {
  // The program on the other side of the device reads and writes it, too.
  if (transport === 'vsock') return ['-object', `memory-backend-memfd,id=memory,size=${memoryMiB}M,share=on`];
  if (memory === undefined || memory === 'saved') return ['-object', `memory-backend-ram,id=memory,size=${memoryMiB}M`];
  const share = memory === 'template' ? 'on' : 'off';
  return ['-object', `memory-backend-file,id=memory,size=${memoryMiB}M,mem-path=${INSIDE.memory},share=${share}`];
}

function ports(device: (name: string) => string): string[] {
  return ['-device', `${device('virtio-serial')},max_ports=4`, ...port(1, 'control'), ...port(2, 'relay'), ...port(3, 'egress')];
}

function vsock(device: (name: string) => string): string[] {
  return ['-chardev', `socket,id=vsock,path=${SOCKETS.vsockDevice}`, '-device', `${device('vhost-user-vsock')},chardev=vsock`];
}

function port(number: number, name: 'control' | 'relay' | 'egress'): string[] {
  return [
    ...['-chardev', `socket,id=${name},path=${SOCKETS[name]},server=on,wait=off`],
    ...['-device', `virtserialport,chardev=${name},name=agentiso.${name},nr=${number}`],
  ];
}

/** Weaker inside the guest for the sake of speed, where each instruction is emulated; the machine's walls are not made of these. */
const FOR_EMULATION = ['mitigations=off', 'init_on_alloc=0', 'nokaslr', 'lsm='];

/** How the host comes in. */
const BY_PORTS = ['aiso.arg=--ports', 'aiso.arg=/dev/virtio-ports'];
const BY_VSOCK = ['aiso.vsock', 'aiso.arg=--vsock'];

function kernelWords({ board, accel, tscKhz, memory, transport }: MachinePlan): string[] {
  return [
    ...['console=ttyS0', 'quiet', 'panic=-1', 'reboot=t', '8250.nr_uarts=1'],
    ...['audit=0', 'nowatchdog', 'cryptomgr.notests', 'rcupdate.rcu_expedited=1'],
    ...(accel === 'tcg' ? FOR_EMULATION : []),
    // All its processors read the counter of this machine, which a guest cannot know: with more than one it would count ticks instead, and lose many.
    ...(board === 'microvm' && accel === 'tcg' ? ['no_timer_check', 'tsc=reliable'] : []),
    ...(board === 'microvm' && tscKhz !== undefined ? [`tsc_early_khz=${tscKhz}`] : []),
    `aiso.bus=${board === 'microvm' ? 'mmio' : 'pci'}`,
    ...['aiso.pool', ...(transport === 'vsock' ? BY_VSOCK : BY_PORTS), `aiso.clock=${CLOCK_AHEAD}`],
    // A copy has it from its template; said all the same, so that both have one command line.
    ...(memory === 'template' || memory === 'copy' ? ['aiso.arg=--warm'] : []),
  ];
}
