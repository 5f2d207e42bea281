/** The test agent as one file that Node runs anywhere, and the runner as it is shipped. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const common = { absWorkingDir: root, bundle: true, platform: 'node', target: 'node20.19', format: 'cjs', logLevel: 'error' } as const;

export async function bundleAcpAgent(folder: string): Promise<string> {
  const outfile = join(folder, 'acp-agent.cjs');
  await build({ ...common, entryPoints: ['test/support/acp-agent/agent.ts'], outfile });
  return outfile;
}

export async function bundleRunner(folder: string): Promise<string> {
  const outfile = join(folder, 'prompt-runner.cjs');
  await build({ ...common, entryPoints: ['src/prompt-runner/main.ts'], outfile });
  return outfile;
}

/** A prompt that says what the agent does. */
export function script(...steps: readonly object[]): string {
  return `do this\n\`\`\`script\n${JSON.stringify(steps)}\n\`\`\``;
}
