/** Reads one file again and again until its standard input ends; says how often, and everything that was not a whole document. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const [path = ''] = process.argv.slice(2);
let isOver = false;
process.stdin.on('end', () => {
  isOver = true;
});
process.stdin.resume();
process.stdout.write('reading\n');

let reads = 0;
const versions = new Set<string>();
const problems: string[] = [];

function read(): void {
  try {
    const text = readFileSync(path, 'utf8');
    const value = parse(text) as { metadata: { resourceVersion: string }; status?: { attempt?: number }; spec: { command: string } };
    versions.add(value.metadata.resourceVersion);
    if (value.spec.command !== 'true' || !text.endsWith('\n')) problems.push(`torn: ${text}`);
  } catch (error) {
    problems.push(String(error));
  }
  reads++;
}

while (!isOver) {
  for (let i = 0; i < 50; i++) read();
  await new Promise((resolve) => setImmediate(resolve));
}
process.stdout.write(`${JSON.stringify({ reads, versions: versions.size, problems: problems.slice(0, 5) })}\n`);
