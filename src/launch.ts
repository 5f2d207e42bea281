/** The first file that runs: picks the program that has what the command needs. */
import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';
import { isQuick } from './cli/quick.ts';

declare const require: (path: string) => unknown;
declare const __dirname: string;
/** The name of the quick program in this build; the code that V8 compiled for exactly this one lies beside it. */
declare const QUICK_PROGRAM: string;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
// Said here, because an older one cannot even read the rest.
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`agentiso: Node.js ${process.versions.node} is too old; 20.19 or newer is needed\n`);
  process.exitCode = 1;
} else if (isQuick(process.argv.slice(2))) runQuick();
else void import('./full.mjs' as string);

/** Compiling it would take as long as all that it does. */
function runQuick(): void {
  const filename = `${__dirname}/${QUICK_PROGRAM}.js`;
  const source = `(function (require) {${readFileSync(filename, 'utf8')}\n})`;
  const cachedData = compiledFor(filename);
  new Script(source, { filename, ...(cachedData ? { cachedData } : {}) }).runInThisContext()(require);
}

function compiledFor(filename: string): Buffer | undefined {
  try {
    return readFileSync(filename.replace(/js$/, 'cache'));
  } catch {
    // Then node compiles it.
    return undefined;
  }
}
