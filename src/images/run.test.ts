import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { run } from './run.ts';

const { signal } = new AbortController();

/** One that has ended may wait for its parent to take note. */
function isRunning(pid: string): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && !/\) Z /.test(readFileSync(path, 'utf8'));
}

describe('run', () => {
  it('gives the output and tells every line of both streams', async () => {
    const lines: string[] = [];
    const output = await run(['sh', '-c', 'cat; echo seen >&2'], { signal, input: 'in\n', onLine: (line) => lines.push(line) });
    expect([output.toString(), lines.sort()]).toEqual(['in\n', ['in', 'seen']]);
  });

  it('fails with what the tool complained about', async () => {
    await expect(run(['sh', '-c', 'echo no room >&2; exit 3'], { signal })).rejects.toThrow('sh failed: no room');
    await expect(run(['agentiso-no-such-tool'], { signal })).rejects.toThrow('agentiso-no-such-tool failed');
  });

  it('ends the tool and what it started when told to stop', async () => {
    const controller = new AbortController();
    let child = '';
    const onLine = (line: string) => {
      child = line;
      controller.abort();
    };
    await expect(run(['sh', '-c', 'sleep 1000 & echo $!; wait'], { signal: controller.signal, onLine })).rejects.toThrow(/abort/i);
    expect(child).toMatch(/^\d+$/);
    await expect.poll(() => isRunning(child)).toBe(false);
  });

  it('leaves no tool behind when its own process is killed', async () => {
    const script = `import { run } from ${JSON.stringify(new URL('run.ts', import.meta.url).href)};
      await run(['sh', '-c', 'echo $$; exec sleep 1000'], { signal: new AbortController().signal, onLine: (line) => console.log(line) });`;
    const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [tool] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = tool.toString().trim();
    expect(isRunning(pid)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it('gives tools nothing of our environment', async () => {
    const output = await run(['env'], { signal, env: { A: '1' } });
    expect(
      output
        .toString()
        .split('\n')
        .map((line) => line.split('=')[0])
        .filter((name) => !['PWD', '_', 'SHLVL', ''].includes(name ?? ''))
        .sort(),
    ).toEqual(['A', 'LC_ALL', 'PATH']);
  });
});
