/**
 * Whether KVM runs a guest of ours: found out by booting one. A device that opens proves nothing, there are kernels whose KVM runs only guests
 * made for it. The answer is kept until the kernel of this machine, QEMU or the image is another.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '#lib/log.ts';
import { timeLimit } from '#lib/time-limit.ts';
import type { Acceleration } from './args.ts';
import { withBareMachine } from './boot.ts';
import { kvmAccess, type VmSupport } from './support.ts';
import type { TemplateImage } from './templates.ts';

export interface AccelerationOptions {
  /** Holds the answer; scratch of the trial is made in it. */
  readonly directory: string;
  readonly image: TemplateImage | undefined;
  readonly support: VmSupport;
  readonly log: Logger;
  /** Whoever says so knows better. */
  readonly asked?: Acceleration | undefined;
  /** For tests: where the device is, and how long a guest has. */
  readonly device?: string;
  readonly trialMs?: number;
}

/** A guest that KVM runs answers in less than a second. */
const TRIAL_MS = 8_000;

/** Without an image or a device that QEMU's uid may open, there is nothing to try: tcg. */
export async function withAcceleration(options: AccelerationOptions): Promise<VmSupport> {
  const { support, asked, image, directory } = options;
  const access = kvmAccess(options.device);
  if (asked === 'tcg' || access === undefined || !support.isRoot) return support;
  const accelerated: VmSupport = { ...support, accel: 'kvm', ...(access !== 'all' && { kvmGroup: access.group }) };
  if (asked === 'kvm') return accelerated;
  if (image === undefined) return support;
  const path = join(directory, 'acceleration.json');
  const key = createHash('sha256')
    .update(JSON.stringify([release(), support.version, image.kernel]))
    .digest('hex');
  const known = await readAnswer(path, key);
  if (known !== undefined) return known ? accelerated : support;
  const works = await bootsWithKvm(options, accelerated, image);
  await writeFile(path, `${JSON.stringify({ key, works })}\n`, { mode: 0o600 });
  return works ? accelerated : support;
}

async function bootsWithKvm(
  { directory, log, trialMs = TRIAL_MS }: AccelerationOptions,
  support: VmSupport,
  image: TemplateImage,
): Promise<boolean> {
  const folder = await mkdtemp(join(directory, '.kvm-trial-'));
  const { kernel, initrd, root } = image;
  const plan = { board: support.board, accel: 'kvm', vcpus: 1, memoryMiB: 256, hasNetwork: false } as const;
  try {
    const bare = { folder, support, plan, diskGiB: 1, image: { kernel, initrd, root }, mark: `agentiso-vm-trial-${process.pid}` };
    await withBareMachine(bare, async () => {}, timeLimit(trialMs));
    return true;
  } catch (error) {
    log.warn({ err: error }, 'KVM is there and runs no guest of ours: virtual machines are emulated, which is slow');
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readAnswer(path: string, key: string): Promise<boolean | undefined> {
  try {
    const answer = JSON.parse(await readFile(path, 'utf8')) as { readonly key: string; readonly works: boolean };
    return answer.key === key ? answer.works : undefined;
  } catch {
    // None, or half of one.
    return undefined;
  }
}
