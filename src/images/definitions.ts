/** The catalogue: `base`, which is built in, and one short YAML file for each of the others. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { AgentisoError, InvalidError } from '#lib/errors.ts';

export interface ImageDefinition {
  readonly name: string;
  readonly description: string;
  /** Debian packages beside those of `base`. */
  readonly packages: readonly string[];
  /** The file that says so; absent: it is built in. */
  readonly source?: string;
}

export const BASE: ImageDefinition = { name: 'base', description: 'git and Node.js', packages: [] };

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Debian's own rule for names; versions are not asked for, for they are gone from the archive when the next one comes. */
const PACKAGE = /^[a-z0-9][a-z0-9+.-]+$/;
const FIELDS = ['name', 'description', 'packages'];

/** In the order of names, `base` first. A folder that is not there has none. */
export async function readDefinitions(folders: readonly string[]): Promise<readonly ImageDefinition[]> {
  const found = new Map([[BASE.name, BASE]]);
  for (const folder of folders) {
    for (const file of await yamlFiles(folder)) {
      const definition = parseDefinition(await readFile(file, 'utf8'), file);
      const other = found.get(definition.name);
      if (other) throw new InvalidError(`${file}: the image ${definition.name} is already ${other.source ?? 'built in'}`);
      found.set(definition.name, definition);
    }
  }
  const [, ...others] = found.values();
  return [BASE, ...others.sort((a, b) => (a.name < b.name ? -1 : 1))];
}

export function parseDefinition(text: string, source: string): ImageDefinition {
  const value = parseYaml(text, source);
  const refuse = (message: string) => new InvalidError(`${source}: ${message}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse(`expected ${FIELDS.join(', ')}`);
  const { name, description = '', packages } = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(value).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined) throw refuse(`unknown field ${unknown}; there are ${FIELDS.join(', ')}`);
  if (typeof name !== 'string' || !NAME.test(name)) throw refuse('name: lower-case letters, digits and hyphens');
  if (name !== basename(source).replace(/\.ya?ml$/, '')) throw refuse(`name: the file of the image ${name} must be called ${name}.yaml`);
  if (typeof description !== 'string') throw refuse('description: expected text');
  if (!Array.isArray(packages) || packages.length === 0) throw refuse('packages: expected a list of Debian packages');
  const wrong = packages.find((each) => typeof each !== 'string' || !PACKAGE.test(each));
  if (wrong !== undefined) throw refuse(`packages: ${JSON.stringify(wrong)} is no name of a Debian package`);
  return { name, description, packages: packages as string[], source };
}

function parseYaml(text: string, source: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new InvalidError(`${source}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function definitionOf(definitions: readonly ImageDefinition[], name: string): ImageDefinition {
  const found = definitions.find((each) => each.name === name);
  if (found) return found;
  const names = definitions.map((each) => each.name).join(', ');
  throw new AgentisoError('NotFound', `there is no image ${name}; there are ${names}`, { reason: 'ImageNotFound' });
}

async function yamlFiles(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder);
    return names
      .filter((name) => /\.ya?ml$/.test(name))
      .sort()
      .map((name) => join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
