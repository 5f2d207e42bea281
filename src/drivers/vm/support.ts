/** Whether this machine can run virtual machines, and how. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { messageOf } from '#lib/errors.ts';
import { execute } from '#lib/execute.ts';
import type { CgroupPlaces } from '../local/cgroup-places.ts';
import { type HostLayout, TOOL_PATH } from '../sandbox/args.ts';
import type { SandboxSupport } from '../sandbox/detect.ts';
import type { Acceleration, Board } from './args.ts';
import type { ChosenTransport } from './vsock.ts';

export interface VmSupport {
  /** Path of QEMU. */
  readonly qemu: string;
  readonly version: string;
  readonly accel: Acceleration;
  readonly board: Board;
  readonly tscKhz?: number;
  readonly kvmGroup?: number;
  readonly isRoot: boolean;
  readonly host: HostLayout;
  readonly limits: string;
  readonly network: string;
  readonly places?: CgroupPlaces;
  /** How machines are reached that are started now. Absent: by virtio ports. */
  readonly transport?: ChosenTransport;
}

export interface VmUnavailable {
  /** Why not, for people. */
  readonly reason: string;
}

const QEMU = 'qemu-system-x86_64';

/** `sandbox`: machines are confined by the same means. Software emulation until a boot has shown more. */
export async function detectVm(sandbox: SandboxSupport): Promise<VmSupport | VmUnavailable> {
  if (process.arch !== 'x64') return { reason: `no virtual machines on ${process.arch}` };
  if (sandbox.abilities === undefined) return { reason: `QEMU cannot be confined: ${sandbox.reason}` };
  const version = await versionOf(QEMU);
  if ('reason' in version) return version;
  const tscKhz = readTscKhz();
  return {
    ...{ qemu: QEMU, version: version.text, accel: 'tcg', isRoot: sandbox.abilities.mode === 'root', host: sandbox.abilities.host },
    ...{ limits: sandbox.limits === 'prlimit' ? 'none' : sandbox.limits, network: sandbox.network },
    ...(sandbox.places && { places: sandbox.places }),
    ...(tscKhz === undefined ? { board: 'q35' } : { board: 'microvm', tscKhz }),
  };
}

async function versionOf(qemu: string): Promise<{ readonly text: string } | VmUnavailable> {
  try {
    const { stdout } = await execute(qemu, ['--version'], { env: { PATH: TOOL_PATH } });
    return { text: stdout.split('\n')[0] ?? '' };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { reason: `QEMU is not installed: there is no ${qemu}` };
    return { reason: `${qemu} cannot be used: ${messageOf(error)}` };
  }
}

/** undefined: cannot be told. Where processors change their speed, /proc/cpuinfo has the speed of the moment and not the counter's. */
function readTscKhz(): number | undefined {
  if (existsSync('/sys/devices/system/cpu/cpu0/cpufreq')) return undefined;
  return parseTscKhz(readFileSync('/proc/cpuinfo', 'utf8'));
}

/** Pure. */
export function parseTscKhz(cpuinfo: string): number | undefined {
  if (!/^flags\s*:.*\bconstant_tsc\b/m.test(cpuinfo)) return undefined;
  const megahertz = Number(/^cpu MHz\s*:\s*([\d.]+)/m.exec(cpuinfo)?.[1]);
  return Number.isFinite(megahertz) && megahertz > 0 ? Math.round(megahertz * 1_000) : undefined;
}

/** Who may use KVM beside root: everybody, a group, or nobody. */
export function kvmAccess(path = '/dev/kvm'): 'all' | { readonly group: number } | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if ((stat.mode & 0o006) === 0o006) return 'all';
  return (stat.mode & 0o060) === 0o060 && stat.gid !== 0 ? { group: stat.gid } : undefined;
}
