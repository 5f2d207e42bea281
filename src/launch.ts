/** The first file that runs: picks the program that has what the command needs. */
import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';
import { programOf } from './cli/quick.ts';

declare const require: (path: string) => unknown;
declare const __dirname: string;
/** The names of the quick programs in this build; the code that V8 compiled for exactly this one lies beside each. */
declare const QUICK_PROGRAMS: Readonly<Record<'get' | 'quick', string>>;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
// Said here, because an older one cannot even read the rest.
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`agentiso: Node.js ${process.versions.node} is too old; 20.19 or newer is needed\n`);
  process.exitCode = 1;
} else {
  const program = programOf(process.argv.slice(2));
  if (program === 'full') void import('./full.mjs' as string);
  else runQuick(QUICK_PROGRAMS[program]);
}

/** Compiling it would take as long as all that it does. */
function runQuick(name: string): void {
  const filename = `${__dirname}/${name}.js`;
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
