/** A mixed team builds a small program from a plan: each agent commits its part, the parts are merged, and the tests pass in a clean checkout. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { withSandboxes } from '../support/agents-home.ts';
import { CodingAgents, installAgents, roleOf, testedBackends } from '../support/coding-agents.ts';
import { inlineScript } from '../support/scripted-model/script.ts';
import { gitIn, makeSource } from '../support/work.ts';

/** Three kinds where three are tried, or else some of them twice. */
const BUILDERS = [0, 1, 2].map((at) => testedBackends[at % testedBackends.length] ?? 'codex');
const ROLES = ['reader', 'reckoner', 'tester'];

const READ = `exports.read = (text) => text.trim().split(/\\s+/).map((word) => (/^-?\\d+$/.test(word) ? Number(word) : word));\n`;
const RECKON = `const STEPS = { '+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b };
exports.reckon = (words) => {
  const stack = [];
  for (const word of words) {
    if (typeof word === 'number') stack.push(word);
    else stack.push(STEPS[word](...stack.splice(-2)));
  }
  return stack.pop();
};
`;
const TEST = `const { strictEqual } = require('node:assert');
const { test } = require('node:test');
const { read } = require('./read.js');
const { reckon } = require('./reckon.js');
test('reckons what it reads', () => strictEqual(reckon(read('2 3 + -4 *')), -20));
`;

const partOf = (name: string, assignTo: string, file: string, content: string) => ({
  name,
  assignTo,
  maxAttempts: 1,
  prompt: `Write ${file}.\n${inlineScript([
    { op: 'write', path: `/workspace/${file}`, content },
    { op: 'shell', command: `cd /workspace && git add ${file} && git commit -q -m "Add ${file}"` },
    { op: 'text', text: `${file} exports what its name says.` },
  ])}`,
});

withSandboxes('a team of coding agents', () => {
  const lab = new CodingAgents();
  const source = () => join(lab.at.folder, 'source');
  beforeAll(async () => {
    await installAgents([...new Set(BUILDERS)]);
    makeSource(source(), { 'README.md': '# A calculator\n' });
    await lab.start();
  }, 600_000);
  afterAll(() => lab.close(expect.anything()));

  it('builds a program that passes its tests in a clean checkout', async () => {
    await lab.at.create('Team', 'build', {
      repo: { path: source() },
      merge: { into: 'main' },
      roles: ROLES.map((name, at) => roleOf(name, BUILDERS[at] ?? 'codex')),
      tasks: [
        partOf('read', 'reader', 'read.js', READ),
        partOf('reckon', 'reckoner', 'reckon.js', RECKON),
        { ...partOf('test', 'tester', 'calculator.test.js', TEST), dependsOn: ['read', 'reckon'] },
      ],
    });
    await lab.ended('build-test');
    const prompted = lab.model.hits.find(({ body, step }) => step === 0 && body.includes('Write calculator.test.js'));
    expect(prompted?.body).toContain('read.js exports what its name says.');
    expect(prompted?.body).toContain('reckon.js exports what its name says.');
    await vi.waitFor(
      async () => {
        const [merge] = await lab.at.list('merges');
        if (merge?.status?.phase !== 'Merged') throw new Error(JSON.stringify(merge?.status));
      },
      { timeout: 60_000, interval: 200 },
    );
    const clean = join(lab.at.folder, 'clean');
    gitIn(lab.at.folder, 'clone', '-q', source(), clean);
    expect(gitIn(clean, 'log', '--format=%s')).toMatch(/Add calculator\.test\.js/);
    expect(execFileSync(process.execPath, ['--test'], { cwd: clean, encoding: 'utf8' })).toMatch(/# pass 1\n/);
  });
});
