import { describe, expect, it } from 'vitest';
import { definitionFolders, imagesDirectory } from './user-images.ts';

const environment = { userHome: '/home/ada', cwd: '/srv' };

describe('imagesDirectory', () => {
  it.each([
    { name: 'nothing is set', set: {}, want: '/home/ada/.cache/agentiso/images' },
    { name: 'there is a cache directory', set: { cacheHome: '/cache' }, want: '/cache/agentiso/images' },
    { name: 'the cache directory is relative', set: { cacheHome: 'cache' }, want: '/home/ada/.cache/agentiso/images' },
    { name: 'it is said', set: { directory: '/big/images', cacheHome: '/cache' }, want: '/big/images' },
    { name: 'it is said relatively', set: { directory: 'images' }, want: '/srv/images' },
    { name: 'it is said to be nothing', set: { directory: '' }, want: '/home/ada/.cache/agentiso/images' },
  ])('$name: $want', ({ set, want }) => {
    expect(imagesDirectory({ ...environment, ...set })).toBe(want);
  });
});

describe('definitionFolders', () => {
  it("has agentiso's own and a person's", () => {
    const [ours = '', theirs] = definitionFolders(environment);
    expect(ours).toMatch(/\/manifests\/images$/);
    expect(theirs).toBe('/home/ada/.config/agentiso/images');
  });
});
