/** The first thing a person tries: four agents, a git repository, messages, results of dependencies, and an end by itself. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inTemporaryFolder, manifests, runCli } from '../support/cli.ts';
import { processesMentioning } from '../support/processes.ts';

const QUICKSTART = join(manifests, 'quickstart.yaml');

describe('manifests/quickstart.yaml', () => {
  it('is done by a team that talks, ends by itself, and leaves nothing behind', async () => {
    await inTemporaryFolder(async (tmp) => {
      const placed = { cwd: tmp, env: { TMPDIR: tmp, AGENTISO_HOME: undefined } };
      const { code, stdout, stderr } = await runCli(['up', '--temporary', '-f', QUICKSTART], placed);
      expect({ code, stderr }).toMatchObject({ code: 0 });
      const lines = stderr.split('\n');
      expect(lines.filter((line) => line.startsWith('message/')).sort()).toEqual([
        'message/quickstart coder-1 to lead (status_update): to-roman.mjs is with the reviewer',
        'message/quickstart coder-1 to reviewer: My part, to-roman.mjs: …',
        'message/quickstart coder-2 to lead (status_update): from-roman.mjs is with the reviewer',
        'message/quickstart coder-2 to reviewer: My part, from-roman.mjs: …',
        'message/quickstart lead to * (broadcast): Thank you all, we are done.',
        'message/quickstart lead to * (broadcast): These tests fail. Please make them pass: …',
        'message/quickstart reviewer to lead: All tests pass with the work of coder-1 coder-2.',
      ]);
      const result = stdout.slice(stdout.indexOf('A library for roman numerals, by four agents:'));
      expect(result).toMatch(
        /^A library .*\n\w+ lead: What roman numerals should do\n\w+ coder-1: Write to-roman\n\w+ coder-2: Write from-roman\n# tests 19\n# pass 19\n# fail 0\n$/,
      );
      expect(stderr).toMatch(/\nteam {3}quickstart {2}Ready {6}5 of 5 tasks done\n/);
      expect(stderr).toMatch(/\ndone: 5 of 5 tasks succeeded\n$/);
      expect(stderr).not.toContain('Pending');
      expect(readdirSync(tmp)).toEqual([]);
      expect(processesMentioning(tmp)).toEqual([]);
    });
  });
});
