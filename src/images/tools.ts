/** The tools that make an image, and one line about those that are not there. */
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentisoError } from '#lib/errors.ts';
import { TOOL_PATH } from './run.ts';

/** Program and the Debian package that has it. */
export const IMAGE_TOOLS = {
  'apt-get': 'apt',
  'apt-cache': 'apt',
  'dpkg-deb': 'dpkg',
  mmdebstrap: 'mmdebstrap',
  'mkfs.ext4': 'e2fsprogs',
} as const;

const UNPACKERS = { xz: 'xz-utils', zstd: 'zstd', lz4: 'lz4' } as const;

export async function findTool(program: string): Promise<string | undefined> {
  for (const folder of TOOL_PATH.split(':')) {
    const path = join(folder, program);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

/** Throws one line that names everything that has to be installed. */
export async function requireTools(): Promise<void> {
  const absent: string[] = [];
  for (const [program, name] of Object.entries(IMAGE_TOOLS)) if (!(await findTool(program))) absent.push(name);
  if (absent.length > 0) throw missingTools([...new Set(absent)]);
}

/** Packages are installed as the users that their files belong to. */
export function requireRoot(uid = process.getuid?.()): void {
  if (uid === 0) return;
  throw new AgentisoError('Forbidden', 'to make an image needs root; to use one does not', {
    reason: 'ImageNeedsRoot',
    hint: 'as root: AGENTISO_IMAGES=DIR agentiso image build; then use the same AGENTISO_IMAGES',
  });
}

export async function requireUnpacker(program: keyof typeof UNPACKERS): Promise<void> {
  if (!(await findTool(program))) throw missingTools([UNPACKERS[program]]);
}

export function missingTools(packages: readonly string[]): AgentisoError {
  // Without apt there is no Debian, and no other tool would help.
  if (packages.includes('apt')) {
    return new AgentisoError('Unavailable', 'images are made of Debian packages, and this machine has no apt-get', {
      reason: 'ImageToolMissing',
      hint: 'build the image on Debian and copy the images directory here, or set AGENTISO_IMAGES to one that is shared',
    });
  }
  return new AgentisoError('Unavailable', `to make an image needs what is not installed: ${packages.join(', ')}`, {
    reason: 'ImageToolMissing',
    hint: `apt-get install --no-install-recommends ${packages.join(' ')}`,
  });
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
