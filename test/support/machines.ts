/** What tests of virtual machines need: an image that this user has built, with the guest agent of this source. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { readTree } from '#drivers/local/processes.ts';
import { detectSandbox } from '#drivers/sandbox/detect.ts';
import { findGuestFiles } from '#drivers/sandbox/guest-files.ts';
import { detectVm, type VmSupport } from '#drivers/vm/support.ts';
import type { TemplateKind } from '#drivers/vm/templates.ts';
import { findVsock } from '#drivers/vm/vsock.ts';
import { type ImageFiles, openImages } from '#images/images.ts';
import { imagesDirectory, templatesDirectory } from '../../src/user-images.ts';

const { AGENTISO_IMAGES: directory, XDG_CACHE_HOME: cacheHome } = process.env;

const environment = { directory, cacheHome, userHome: homedir(), cwd: process.cwd() };

export function testImagesDirectory(): string {
  return imagesDirectory(environment);
}

/** As every home of this user has them: those of the guest agent in dist are made by whoever comes first. */
export function testTemplatesDirectory(): Promise<string> {
  return templatesDirectory(environment);
}

export async function findTestImage(guestAgentPath: string): Promise<ImageFiles | undefined> {
  return openImages({ directory: testImagesDirectory(), guestFiles: await findGuestFiles(guestAgentPath) }).find('base');
}

export interface MachinesHere {
  readonly support?: VmSupport;
  /** Why there can be none here; empty when there can. */
  readonly reason: string;
}

let here: Promise<MachinesHere> | undefined;

/** Found out once: it takes a sandbox, and nothing of it changes under a test. */
export function machinesHere(): Promise<MachinesHere> {
  here ??= lookForMachines();
  return here;
}

async function lookForMachines(): Promise<MachinesHere> {
  const support = await detectVm(await detectSandbox());
  if ('reason' in support) return { reason: support.reason };
  if (!support.isRoot) return { reason: 'the tests do not run as root' };
  const isBuilt = (await findTestImage(new URL('./guest-stand-in.cjs', import.meta.url).pathname)) !== undefined;
  return isBuilt ? { support, reason: '' } : { reason: 'no image; run: agentiso image build base' };
}

type Sizes = Pick<TemplateKind, 'vcpus' | 'memoryMiB' | 'diskGiB' | 'toolsGiB'>;

/** What machines of these sizes are copies of. */
export function templateKind({ board, accel, tscKhz, isRoot }: VmSupport, image: ImageFiles, sizes: Sizes): TemplateKind {
  return { image, ...sizes, board, accel, hasNetwork: isRoot, ...(tscKhz !== undefined && { tscKhz }) };
}

/** The same, reached by vsock. */
export async function machinesByVsock(): Promise<MachinesHere> {
  const vsock = findVsock((name) => process.env[name]);
  if ('problem' in vsock) return { reason: `${vsock.problem}; ${vsock.hint}` };
  const { support, reason } = await machinesHere();
  return support === undefined ? { reason } : { support: { ...support, transport: { name: 'vsock', ...vsock } }, reason };
}

/** The process of the machine itself, below the one that started it. */
export function qemuOf(launcher: number): number | undefined {
  return processOf(launcher, 'qemu-system');
}

/** The process that has its vsock. */
export function vsockOf(launcher: number): number | undefined {
  // As it is called in its confinement.
  return processOf(launcher, 'vsock');
}

function processOf(launcher: number, name: string): number | undefined {
  return readTree(launcher).find(({ pid }) => readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith(name))?.pid;
}
