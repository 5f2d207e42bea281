/** From nothing to a team that runs: init, validate, up. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inTemporaryFolder, runCli } from '../support/cli.ts';

it('makes a team that is valid and runs at once', async () => {
  await inTemporaryFolder(async (cwd) => {
    const placed = { cwd, env: { AGENTISO_HOME: undefined } };
    expect(await runCli(['init', 'shop'], placed)).toMatchObject({ code: 0, stdout: 'shop/team.yaml created\nshop/.gitignore created\n' });
    expect(await runCli(['validate', 'shop'], placed)).toMatchObject({ code: 0, stdout: 'team/shop valid\n' });
    const { code, stdout, stderr } = await runCli(['up', '-f', 'shop'], placed);
    expect(stdout).toMatch(/^first version by \S+\n4 draft\.txt\nchecked\n$/);
    expect(stderr).toContain('task/shop-check Succeeded');
    expect(code).toBe(0);
    expect(existsSync(join(cwd, '.agentiso', 'resources', 'tasks', 'default', 'shop-check.yaml'))).toBe(true);
  });
});
