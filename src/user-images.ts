/** The images of virtual machines that whoever runs this program has: where they are, and what goes into them. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findGuestFiles } from '#drivers/sandbox/guest-files.ts';
import { type ImageFiles, type Images, openImages } from '#images/images.ts';
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
  return join(absolute(cacheHome) ?? join(userHome, '.cache'), 'agentiso', 'images');
}

/** Those that come with agentiso, and a person's own. */
export function definitionFolders({ configHome, userHome }: ImagesEnvironment): readonly string[] {
  const own = join(absolute(configHome) ?? join(userHome, '.config'), 'agentiso', 'images');
  return [fileURLToPath(new URL('../manifests/images', import.meta.url)), own];
}

export async function openUserImages(environment: ImagesEnvironment): Promise<UserImages> {
  const directory = imagesDirectory(environment);
  const guestFiles = await findGuestFiles(guestAgentPath());
  return { directory, ...openImages({ directory, guestFiles, definitions: definitionFolders(environment) }) };
}

/** Opened when somebody asks for the first time. `env`: a variable of this process. */
export function findUserImage(env: (name: string) => string | undefined, cwd: string): (name: string) => Promise<ImageFiles | undefined> {
  let opening: Promise<UserImages> | undefined;
  return async (name) => {
    opening ??= openUserImages({
      directory: env('AGENTISO_IMAGES'),
      cacheHome: env('XDG_CACHE_HOME'),
      configHome: env('XDG_CONFIG_HOME'),
      userHome: env('HOME') || homedir(),
      cwd,
    });
    return (await opening).find(name);
  };
}

/** The standard says that relative ones are to be ignored. */
function absolute(path: string | undefined): string | undefined {
  return path?.startsWith('/') ? path : undefined;
}
