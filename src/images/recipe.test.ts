import { describe, expect, it } from 'vitest';
import { type ImageInputs, imageHash, kernelHash } from './recipe.ts';

const git = { name: 'git', version: '1', architecture: 'amd64', sha256: 'aa', size: 1 };
const inputs: ImageInputs = {
  recipe: 1,
  kernel: { ...git, name: 'linux' },
  node: { version: 'v20', sha256: 'bb' },
  mkfs: '1.47.0',
  packages: [git],
};

describe('imageHash', () => {
  it('is the same for the same inputs', () => {
    expect(imageHash(inputs)).toBe(imageHash(structuredClone(inputs)));
    expect(imageHash(inputs)).toMatch(/^[0-9a-f]{32}$/);
  });

  it.each<{ name: string; other: Partial<ImageInputs> }>([
    { name: 'recipe', other: { recipe: 2 } },
    { name: 'version of a package', other: { packages: [{ ...git, version: '2' }] } },
    { name: 'content of a package', other: { packages: [{ ...git, sha256: 'ac' }] } },
    { name: 'set of packages', other: { packages: [git, { ...git, name: 'less' }] } },
    { name: 'kernel', other: { kernel: { ...git, name: 'linux', version: '2' } } },
    { name: 'Node', other: { node: { version: 'v20', sha256: 'bc' } } },
    { name: 'mkfs', other: { mkfs: '1.47.1' } },
  ])('is another one for another $name', ({ other }) => {
    expect(imageHash({ ...inputs, ...other })).not.toBe(imageHash(inputs));
  });
});

describe('kernelHash', () => {
  it('knows nothing of Node and of other packages', () => {
    expect(kernelHash(1, [inputs.kernel, git])).toBe(kernelHash(1, [inputs.kernel, git]));
    expect(kernelHash(1, [inputs.kernel, git])).not.toBe(kernelHash(1, [inputs.kernel, { ...git, sha256: 'ac' }]));
  });
});
