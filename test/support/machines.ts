/** What tests of virtual machines need: an image that this user has built, with the guest agent of this source. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { readTree } from '#drivers/local/processes.ts';
import { detectSandbox } from '#drivers/sandbox/detect.ts';
import { findGuestFiles } from '#drivers/sandbox/guest-files.ts';
import { detectVm, type VmSupport } from '#drivers/vm/support.ts';
import { type ImageFiles, openImages } from '#images/images.ts';
import { imagesDirectory } from '../../src/user-images.ts';

const { AGENTISO_IMAGES: directory, XDG_CACHE_HOME: cacheHome } = process.env;

export function testImagesDirectory(): string {
  return imagesDirectory({ directory, cacheHome, userHome: homedir(), cwd: process.cwd() });
}

export async function findTestImage(guestAgentPath: string): Promise<ImageFiles | undefined> {
  return openImages({ directory: testImagesDirectory(), guestFiles: await findGuestFiles(guestAgentPath) }).find('base');
}

/** Why there can be none here; empty when there can. */
export async function machinesHere(): Promise<{ readonly support?: VmSupport; readonly reason: string }> {
  const support = await detectVm(await detectSandbox());
  if ('reason' in support) return { reason: support.reason };
  if (!support.isRoot) return { reason: 'the tests do not run as root' };
  const isBuilt = (await findTestImage(new URL('./guest-stand-in.cjs', import.meta.url).pathname)) !== undefined;
  return isBuilt ? { support, reason: '' } : { reason: 'no image; run: agentiso image build base' };
}

/** The process of the machine itself, below the one that started it. */
export function qemuOf(launcher: number): number | undefined {
  return readTree(launcher).find(({ pid }) => readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('qemu-system'))?.pid;
}
