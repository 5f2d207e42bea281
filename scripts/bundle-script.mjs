/**
 * Bundles one TypeScript program with all it imports but packages: `node bundle-script.mjs PROGRAM TARGET`. For tests that start it again and again: from the sources
 * it would take a second of processor time each time to load. To itself every file stays where it is.
 */
import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const [, , program, target] = process.argv;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const unfinished = `${target}.${process.pid}`;

const inPlace = {
  name: 'in-place',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const place = { url: pathToFileURL(path).href, filename: path, dirname: dirname(path) };
      const contents = readFileSync(path, 'utf8').replace(/\bimport\.meta\.(url|filename|dirname)\b/g, (_, name) =>
        JSON.stringify(place[name]),
      );
      return { contents, loader: 'ts' };
    });
  },
};

mkdirSync(dirname(target), { recursive: true });
await build({
  ...{ absWorkingDir: root, entryPoints: [program], outfile: unfinished, plugins: [inPlace], logLevel: 'error' },
  ...{
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    packages: 'external',
    sourcemap: 'inline',
    sourcesContent: false,
  },
  banner: { js: `process.argv[1] = ${JSON.stringify(program)};` },
});
// Whole or not at all: another process may be about to start it.
renameSync(unfinished, target);
