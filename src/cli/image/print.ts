/** Images as text. Pure. */
import { ageOf } from '#lib/age.ts';
import { alignLines, TABLE_STYLE } from '../print/align.ts';
import type { ImageDetailsHere, ImageHere } from './images-here.ts';

const SHORT_HASH = 12;

export function imageTable(images: readonly ImageHere[], now: Date): string {
  const rows = images.map(({ name, description, built }) => [
    name,
    built?.hash.slice(0, SHORT_HASH) ?? '<not built>',
    built ? mebibytes(built.rootBytes) : '',
    built?.kernelRelease ?? '',
    built ? ageOf(built.builtAt, now) : '',
    description,
  ]);
  return alignLines([['NAME', 'HASH', 'SIZE', 'KERNEL', 'AGE', 'DESCRIPTION'], ...rows], TABLE_STYLE);
}

export function imageText({ name, description, built, packages, files, root }: ImageDetailsHere, isIntact: boolean | undefined): string {
  const lines: (readonly [string, string])[] = [
    ['Name:', name],
    ['Description:', description],
    ['Packages:', packages.length === 0 ? 'those of base' : `those of base, and ${packages.join(', ')}`],
  ];
  if (!built || !files || !root) lines.push(['Built:', `no; agentiso image build ${name} makes it`]);
  else {
    lines.push(['Built:', built.builtAt], ['Hash:', built.hash], ['Kernel:', `${built.kernelRelease}  ${files.kernel}`]);
    lines.push(['Initramfs:', files.initrd], ['Root:', `${mebibytes(built.rootBytes)}  ${files.root}`], ['SHA-256:', root.rootSha256]);
    if (isIntact !== undefined) lines.push(['Intact:', isIntact ? 'yes' : 'no: the root is not what was built; build it with --force']);
    lines.push(['Node.js:', root.node.version], ['Contents:', `${root.packages.length} packages; -o json lists them`]);
  }
  const width = Math.max(...lines.map(([label]) => label.length)) + 2;
  return lines.map(([label, text]) => `${label.padEnd(width)}${text}\n`).join('');
}

export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)}Mi`;
}
