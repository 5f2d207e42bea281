/** Starts a virtual machine from an image by hand, the way the design says, and reads its console. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImageFiles } from '#images/images.ts';

export interface BootOptions {
  /** For sockets and the workspace's disk. */
  readonly folder: string;
  readonly words: readonly string[];
  /** One processor and 256 MiB where nothing else is said. */
  readonly size?: MachineSize;
  /** Told all that is said on the console, as it comes. */
  readonly onText?: (text: string) => void;
}

export interface MachineSize {
  readonly vcpus: number;
  readonly memoryMiB: number;
  /** For translated code. */
  readonly codeMiB: number;
  /**
   * Its clock counts what it does: two nanoseconds for each instruction, and no time passes while this machine has no time for it. One processor only. What runs a
   * machine in it needs that, for else the ticks of the inner clock come faster than they can be served.
   */
  readonly isCounted?: boolean;
}

/** Of a processor that is counted. */
export const COUNTED_TSC_KHZ = 1_000_000;

const SMALL: MachineSize = { vcpus: 1, memoryMiB: 256, codeMiB: 32 };

export interface Booted {
  /** Resolves with the console when it has said this; rejects when the machine ended before. */
  said(text: string): Promise<string>;
  readonly ended: Promise<{ readonly code: number | null; readonly console: string }>;
  stop(): Promise<void>;
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export function hasTool(program: string): boolean {
  return spawnSync(program, ['--version'], { env: { PATH } }).error === undefined;
}

export function makeDisk(path: string): void {
  writeFileSync(path, '');
  truncateSync(path, 64 * 2 ** 20);
  const { status, stderr } = spawnSync('mkfs.ext4', ['-q', '-F', path], { env: { PATH }, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

export function debugfs(image: string, request: string): string {
  return spawnSync('debugfs', ['-R', request, image], { env: { PATH }, encoding: 'utf8' }).stdout;
}

export function bootImage(image: ImageFiles, options: BootOptions): Booted {
  const child = spawn('qemu-system-x86_64', machine(image, options), { env: { PATH }, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      options.onText?.(chunk);
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<{ code: number | null; console: string }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, console: text }));
  });
  const said = (expected: string) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        if (text.includes(expected)) resolve(text);
      };
      listeners.add(look);
      look();
      ended.then(({ code }) => reject(new Error(`ended with ${code} before saying ${expected}:\n${text}`)), reject);
    });
  return {
    said,
    ended,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Without acceleration, so that it is the same everywhere. */
function machine(image: ImageFiles, { folder, words, size = SMALL }: BootOptions): string[] {
  const { vcpus, memoryMiB, codeMiB, isCounted = false } = size;
  const mmio = (name: string, more: string) => ['-device', `virtio-${name}-device,${more}`];
  const disk = (id: string, file: string, more: string) => [
    ...['-drive', `if=none,id=${id},file=${file},format=raw${more}`],
    ...mmio('blk', `drive=${id},serial=${id}`),
  ];
  const port = (name: string, number: number) => [
    ...['-chardev', `socket,id=${name},path=${join(folder, `${name}.sock`)},server=on,wait=off`],
    ...['-device', `virtserialport,chardev=${name},name=agentiso.${name},nr=${number}`],
  ];
  return [
    ...[
      '-nodefaults',
      '-no-user-config',
      '-display',
      'none',
      '-no-reboot',
      '-accel',
      `tcg,thread=${isCounted ? 'single' : 'multi'},tb-size=${codeMiB}`,
    ],
    ...(isCounted ? ['-icount', 'shift=1'] : []),
    ...['-M', 'microvm,isa-serial=on', '-cpu', 'max', '-smp', String(vcpus), '-m', String(memoryMiB), '-serial', 'stdio'],
    ...['-kernel', image.kernel, '-initrd', image.initrd, '-append', commandLine(words, isCounted ? COUNTED_TSC_KHZ : tscKhz())],
    // The other one first: they are told apart by their names alone.
    ...disk('workspace', join(folder, 'workspace.img'), ''),
    ...disk('root', image.root, ',readonly=on'),
    ...mmio('serial', 'max_ports=4'),
    ...port('control', 1),
    ...port('relay', 2),
    // A link that leads nowhere.
    ...['-netdev', 'hubport,id=nowhere,hubid=0', ...mmio('net', 'netdev=nowhere')],
  ];
}

/** Of this machine's processor, which emulated ones share. */
function tscKhz(): number {
  const megahertz = Number(/^cpu MHz\s*: ([\d.]+)/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 2_000);
  return Math.round(megahertz * 1_000);
}

/** A microvm has no clock to measure its processor's with: it is told. */
function commandLine(words: readonly string[], khz: number): string {
  const clock = ['no_timer_check', `tsc_early_khz=${khz}`];
  const quick = ['mitigations=off', 'nokaslr', 'lsm=', 'audit=0', 'nowatchdog', 'cryptomgr.notests', 'rcupdate.rcu_expedited=1'];
  return ['quiet', 'console=ttyS0', 'panic=-1', 'reboot=t', ...clock, ...quick, 'aiso.bus=mmio', ...words].join(' ');
}
