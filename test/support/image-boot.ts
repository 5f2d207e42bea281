/** Starts a virtual machine from an image by hand, the way the design says, and reads its console. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImageFiles } from '#images/images.ts';

export interface BootOptions {
  /** For sockets and the workspace's disk. */
  readonly folder: string;
  readonly words: readonly string[];
}

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

export function bootImage(image: ImageFiles, { folder, words }: BootOptions): Booted {
  const child = spawn('qemu-system-x86_64', machine(image, folder, words), { env: { PATH }, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
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
function machine(image: ImageFiles, folder: string, words: readonly string[]): string[] {
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
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-accel', 'tcg,thread=multi,tb-size=32'],
    ...['-M', 'microvm,isa-serial=on', '-cpu', 'max', '-smp', '1', '-m', '256', '-serial', 'stdio'],
    ...['-kernel', image.kernel, '-initrd', image.initrd, '-append', commandLine(words)],
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

/** A microvm has no clock to measure its processor's with: it is told. */
function commandLine(words: readonly string[]): string {
  const megahertz = Number(/^cpu MHz\s*: ([\d.]+)/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 2_000);
  const clock = ['no_timer_check', `tsc_early_khz=${Math.round(megahertz * 1_000)}`];
  const quick = ['mitigations=off', 'nokaslr', 'lsm=', 'audit=0', 'nowatchdog', 'cryptomgr.notests', 'rcupdate.rcu_expedited=1'];
  return ['quiet', 'console=ttyS0', 'panic=-1', 'reboot=t', ...clock, ...quick, 'aiso.bus=mmio', ...words].join(' ');
}
