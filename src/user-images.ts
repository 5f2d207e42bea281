/** The images of virtual machines that whoever runs this program has: where they are, and what goes into them. */
import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findGuestFiles } from '#drivers/sandbox/guest-files.ts';
import { type ImageFiles, type Images, openImages } from '#images/images.ts';
import { layoutOf } from '#images/layout.ts';
import { guestAgentPath } from './guest-agent-path.ts';

export interface ImagesEnvironment {
  /** $AGENTISO_IMAGES. */
  readonly directory?: string | undefined;
  /** $XDG_CACHE_HOME. */
  readonly cacheHome?: string | undefined;
  /** $XDG_CONFIG_HOME. */
  readonly configHome?: string | undefined;
  readonly userHome: string;
  readonly cwd: string;
}

export interface UserImages extends Images {
  readonly directory: string;
}

/** One for all homes: images are large, and the same for all of them. */
export function imagesDirectory({ directory, cacheHome, userHome, cwd }: ImagesEnvironment): string {
  if (directory) return resolve(cwd, directory);
  return join(cacheDirectory({ cacheHome, userHome }), 'images');
}

function cacheDirectory({ cacheHome, userHome }: Pick<ImagesEnvironment, 'cacheHome' | 'userHome'>): string {
  return join(absolute(cacheHome) ?? join(userHome, '.cache'), 'agentiso');
}

/** Those that come with agentiso, and a person's own. */
export function definitionFolders({ configHome, userHome }: ImagesEnvironment): readonly string[] {
  const own = join(absolute(configHome) ?? join(userHome, '.config'), 'agentiso', 'images');
  return [fileURLToPath(new URL('../manifests/images', import.meta.url)), own];
}

/** Of machines, made of these images and beside them: one for all homes as well. */
export async function templatesDirectory(environment: ImagesEnvironment): Promise<string> {
  const directory = imagesDirectory(environment);
  return (await isReadOnly(directory)) ? join(cacheDirectory(environment), 'templates') : layoutOf(directory).templates;
}

export async function openUserImages(environment: ImagesEnvironment): Promise<UserImages> {
  const directory = imagesDirectory(environment);
  const guestFiles = await findGuestFiles(guestAgentPath());
  // Images that root has built serve everybody: only what changes with agentiso is then kept elsewhere.
  const initrds = (await isReadOnly(directory)) ? { initrds: join(cacheDirectory(environment), 'initrds') } : {};
  return { directory, ...openImages({ directory, guestFiles, definitions: definitionFolders(environment), ...initrds }) };
}

async function isReadOnly(directory: string): Promise<boolean> {
  try {
    await access(directory, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

export function imagesEnvironment(variable: (name: string) => string | undefined, cwd: string): ImagesEnvironment {
  return {
    directory: variable('AGENTISO_IMAGES'),
    cacheHome: variable('XDG_CACHE_HOME'),
    configHome: variable('XDG_CONFIG_HOME'),
    userHome: variable('HOME') || homedir(),
    cwd,
  };
}

/** Opened when somebody asks for the first time. */
export function findUserImage(environment: ImagesEnvironment): (name: string) => Promise<ImageFiles | undefined> {
  let opening: Promise<UserImages> | undefined;
  return async (name) => {
    opening ??= openUserImages(environment);
    return (await opening).find(name);
  };
}

/** The standard says that relative ones are to be ignored. */
function absolute(path: string | undefined): string | undefined {
  return path?.startsWith('/') ? path : undefined;
}
