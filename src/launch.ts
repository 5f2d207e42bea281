/** The first file that runs: picks the program that has what the command needs. */
import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';
import { type ProgramName, programOf } from './cli/quick.ts';

declare const require: (path: string) => unknown;
declare const __dirname: string;
/** Their names in this build; the code that V8 compiled for exactly this one lies beside each. */
declare const PROGRAMS: Readonly<Record<ProgramName, string>>;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
// Said here, because an older one cannot even read the rest.
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`agentiso: Node.js ${process.versions.node} is too old; 20.19 or newer is needed\n`);
  process.exitCode = 1;
} else {
  run(PROGRAMS[programOf(process.argv.slice(2))]);
}

/** Compiling it would take as long as all that a small command does, and half the time until a daemon is ready. */
function run(name: string): void {
  const filename = `${__dirname}/${name}.js`;
  const source = `(function (require, __filename) {${readFileSync(filename, 'utf8')}\n})`;
  const cachedData = compiledFor(filename);
  new Script(source, { filename: `${name}.js`, ...(cachedData ? { cachedData } : {}) }).runInThisContext()(require, filename);
}

function compiledFor(filename: string): Buffer | undefined {
  try {
    return readFileSync(filename.replace(/js$/, 'cache'));
  } catch {
    // Then node compiles it.
    return undefined;
  }
}
