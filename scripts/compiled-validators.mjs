/** For esbuild: puts the checks of all kinds, compiled, in the place of the module that compiles them when they are needed. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const scripts = dirname(fileURLToPath(import.meta.url));

export const compiledValidators = {
  name: 'compiled-validators',
  setup(builder) {
    builder.onLoad({ filter: /\/src\/api\/validators\.ts$/ }, async () => ({
      contents: await validatorsText(),
      loader: 'js',
      resolveDir: scripts,
    }));
  },
};

/** The schemas are in TypeScript, which Node does not read. */
export async function validatorsText() {
  const entryPoints = [join(scripts, 'validators-text.ts')];
  const { outputFiles } = await build({ entryPoints, bundle: true, platform: 'node', target: 'node20.19', format: 'cjs', write: false });
  const module = { exports: {} };
  new Function('module', 'require', outputFiles[0].text)(module, createRequire(import.meta.url));
  return module.exports.validatorsText();
}
