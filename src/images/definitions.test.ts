import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { definitionOf, parseDefinition, readDefinitions } from './definitions.ts';

const shipped = join(import.meta.dirname, '..', '..', 'manifests', 'images');

describe('parseDefinition', () => {
  it('reads name, description and packages', () => {
    const text = 'name: go\ndescription: Go\npackages: [golang-go, libc6-dev]\n';
    expect(parseDefinition(text, 'x/go.yaml')).toEqual({
      name: 'go',
      description: 'Go',
      packages: ['golang-go', 'libc6-dev'],
      source: 'x/go.yaml',
    });
  });

  it.each([
    { name: 'no mapping', text: '- a\n', why: 'expected name' },
    { name: 'an unknown field', text: 'name: go\npackages: [a1]\nsteps: []\n', why: 'unknown field steps' },
    { name: 'a name for another file', text: 'name: rust\npackages: [a1]\n', why: 'must be called rust.yaml' },
    { name: 'a bad name', text: 'name: ../go\npackages: [a1]\n', why: 'name:' },
    { name: 'no packages', text: 'name: go\n', why: 'packages:' },
    { name: 'an option instead of a package', text: 'name: go\npackages: [--allow-downgrades]\n', why: 'no name of a Debian package' },
    { name: 'a pattern instead of a package', text: "name: go\npackages: ['?all']\n", why: 'no name of a Debian package' },
    { name: 'broken YAML', text: 'name: [\n', why: 'go.yaml' },
  ])('refuses $name', ({ text, why }) => {
    expect(() => parseDefinition(text, 'go.yaml')).toThrow(why);
  });
});

describe('readDefinitions', () => {
  it('has base first and those that come with agentiso', async () => {
    const names = (await readDefinitions([shipped, '/nonexistent'])).map(({ name }) => name);
    expect(names).toEqual(['base', 'python', 'rust']);
  });

  it('refuses a second one of the same name', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'agentiso-definitions-'));
    try {
      mkdirSync(join(folder, 'own'));
      writeFileSync(join(folder, 'own', 'rust.yaml'), 'name: rust\npackages: [rustc]\n');
      await expect(readDefinitions([shipped, join(folder, 'own')])).rejects.toThrow('the image rust is already');
      writeFileSync(join(folder, 'own', 'rust.yaml'), '');
      await expect(readDefinitions([join(folder, 'own')])).rejects.toThrow('rust.yaml');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('names those that there are when asked for another', async () => {
    const definitions = await readDefinitions([shipped]);
    expect(() => definitionOf(definitions, 'go')).toThrow('there is no image go; there are base, python, rust');
  });
});
