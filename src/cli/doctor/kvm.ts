/**
 * Whether virtual machines run at the speed of the machine. A device that can be opened proves nothing (nested and paravirtual ones open and
 * then run no ordinary guest), so a guest of one sector is booted where there is a qemu to boot it.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { broken, type Check, type Finding, missing, ok } from './check.ts';
import { runProgram } from './run-program.ts';

const DEVICE = '/dev/kvm';
const BOOT_MS = 4_000;

export const kvmCheck: Check = {
  name: 'kvm',
  isNeeded: false,
  purpose: 'isolation driver vm at full speed (it works without, much slower)',
  async look() {
    const denied = openError(DEVICE);
    if (denied === 'ENOENT')
      return missing(`no ${DEVICE}`, { advice: 'switch virtualisation on in the firmware, or nested virtualisation in the host' });
    if (denied === 'EACCES' || denied === 'EPERM')
      return broken(`${DEVICE} is not for this user`, { advice: 'usermod -aG kvm $USER, then log in again' });
    return denied === undefined ? bootGuest() : broken(`${DEVICE}: ${denied}`);
  },
};

/** mov al, 0x10; out 0xf4, al; hlt; jmp $-1: the debug port ends qemu with (0x10 << 1) | 1. */
const PROGRAM = [0xb0, 0x10, 0xe6, 0xf4, 0xf4, 0xeb, 0xfd];
const DONE = 33;

async function bootGuest(): Promise<Finding> {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-doctor-'));
  try {
    const disk = join(folder, 'boot.img');
    writeFileSync(disk, bootSector());
    const machine = ['-accel', 'kvm', '-machine', 'pc', '-m', '16', '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'];
    const devices = ['-device', 'isa-debug-exit,iobase=0xf4,iosize=0x04', '-drive', `file=${disk},format=raw,if=ide,snapshot=on`];
    return judgeBoot(await runProgram('qemu-system-x86_64', [...machine, ...devices], { timeoutMs: BOOT_MS }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function judgeBoot({ outcome, code, complaint }: Awaited<ReturnType<typeof runProgram>>): Finding {
  if (outcome === 'absent') return { state: 'unproven', detail: `${DEVICE} can be opened; without qemu nothing shows that it works` };
  if (outcome === 'exited' && code === DONE)
    return ok('runs a program of one sector; whether it boots a machine is found out with the first one');
  const why = outcome === 'late' ? `a guest did not get anywhere within ${BOOT_MS / 1_000} s` : complaint;
  return broken(`${DEVICE} can be opened, but runs nothing: ${why}`);
}

export function bootSector(): Buffer {
  const sector = Buffer.alloc(512);
  sector.set(PROGRAM);
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
}

/** Opening it changes nothing; undefined when it worked. */
function openError(path: string): string | undefined {
  try {
    closeSync(openSync(path, 'r+'));
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}
