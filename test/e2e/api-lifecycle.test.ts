/** How the doors of the API open: files that only their owner reads, ports that are taken, homes that are not for us. */
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inTemporaryFolder, runCli } from '../support/cli.ts';
import { startDaemon } from '../support/daemon.ts';

const mode = (path: string) => (lstatSync(path).mode & 0o777).toString(8);

function overSocket(socketPath: string, path: string, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end();
  });
}

describe('the files of a daemon', () => {
  it('are for their owner only, whatever the umask', async () => {
    await inTemporaryFolder(async (folder) => {
      const home = join(folder, 'home');
      const umask = process.umask(0);
      try {
        const daemon = await startDaemon(home);
        const socket = join(home, 'agentiso.sock');
        expect(lstatSync(socket).isSocket()).toBe(true);
        expect([mode(socket), mode(daemon.kubeconfig)]).toEqual(['600', '600']);
        for (const name of ['admin-token', 'state/access'].map((path) => join(home, path.includes('/') ? path : `state/access/${path}`))) {
          expect([name, mode(name)]).toEqual([name, lstatSync(name).isDirectory() ? '700' : '600']);
        }
        expect(readFileSync(daemon.kubeconfig, 'utf8')).toContain(daemon.server.token);
        // Whoever can open the socket is the owner; a web page cannot.
        expect((await overSocket(socket, '/apis/agentiso.dev/v1alpha1/teams')).status).toBe(200);
        expect((await overSocket(socket, '/version', { 'Impersonate-User': 'x' })).status).toBe(403);
        await daemon.stop();
        expect(existsSync(socket)).toBe(false);
      } finally {
        process.umask(umask);
      }
    });
  });

  it('of a daemon that was killed are no obstacle to the next', async () => {
    await inTemporaryFolder(async (home) => {
      const first = await startDaemon(home);
      await first.kill();
      expect(existsSync(join(home, 'agentiso.sock'))).toBe(true);
      const second = await startDaemon(home);
      expect(second.server).toEqual(first.server);
      expect((await overSocket(join(home, 'agentiso.sock'), '/healthz')).text).toBe('ok');
      await second.stop();
    });
  });

  it('that lead deep into a tree still give a socket', async () => {
    await inTemporaryFolder(async (folder) => {
      const home = join(folder, 'a'.repeat(100), 'b'.repeat(100));
      mkdirSync(home, { recursive: true });
      const daemon = await startDaemon(home);
      expect((await daemon.api.call('GET', '/healthz')).text).toBe('ok');
      expect(mode(join(home, 'agentiso.sock'))).toBe('600');
      await daemon.stop();
    });
  });
});

describe('a daemon that cannot serve says why, and what to do, and ends with 1', () => {
  const refused = async (args: readonly string[]) => {
    const { code, stdout, stderr } = await runCli(['serve', ...args]);
    expect([code, stdout]).toEqual([1, '']);
    // One line, and perhaps one with a hint.
    expect(stderr).toMatch(/^agentiso: .*\n( {2}.*\n)?$/);
    return stderr;
  };

  it('when the port it was told to use is taken', async () => {
    await inTemporaryFolder(async (folder) => {
      const other = createServer();
      const port = await new Promise<number>((resolve) => {
        other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port));
      });
      expect(await refused(['--home', join(folder, 'home'), '--listen', `127.0.0.1:${port}`])).toContain(
        `cannot listen on 127.0.0.1:${port}: it is in use`,
      );
      await new Promise((resolve) => {
        other.close(resolve);
      });
      // And nothing is left behind that would stop the next start.
      const daemon = await startDaemon(join(folder, 'home'), ['--listen', `127.0.0.1:${port}`]);
      expect(daemon.server.port).toBe(port);
      await daemon.stop();
    });
  });

  it('when another one has the home, and names it', async () => {
    await inTemporaryFolder(async (home) => {
      const daemon = await startDaemon(home);
      const before = readFileSync(daemon.kubeconfig, 'utf8');
      expect(await refused(['--home', home])).toContain(`pid ${daemon.run.child.pid}`);
      // The one that runs is not disturbed: its socket and kubeconfig still lead to it.
      expect(readFileSync(daemon.kubeconfig, 'utf8')).toBe(before);
      expect((await overSocket(join(home, 'agentiso.sock'), '/healthz')).text).toBe('ok');
      await daemon.stop();
    });
  });

  it('when the home is a file', async () => {
    await inTemporaryFolder(async (folder) => {
      writeFileSync(join(folder, 'home'), '');
      expect(await refused(['--home', join(folder, 'home')])).toContain(join(folder, 'home'));
    });
  });

  it('when the home cannot be made', async () => {
    // Not even root makes folders there.
    expect(await refused(['--home', '/sys/agentiso/home'])).toContain('/sys');
  });

  it.each(['nonsense:port', '127.0.0.1:99999', '127.0.0.1:-1', '203.0.113.1:0'])('when --listen is %s', async (address) => {
    await inTemporaryFolder(async (folder) => {
      const { code, stdout, stderr } = await runCli(['serve', '--home', join(folder, 'home'), '--listen', address]);
      expect(code).toBeGreaterThan(0);
      expect(stdout).toBe('');
      expect(stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(2);
      expect(stderr).not.toMatch(/\bat .*:\d+:\d+/);
    });
  });

  it('when a token or certificate file is damaged, and leaves it as it is', async () => {
    await inTemporaryFolder(async (home) => {
      await (await startDaemon(home)).stop();
      const path = join(home, 'state', 'access', 'admin-token');
      writeFileSync(path, 'short\n');
      expect(await refused(['--home', home])).toContain(path);
      expect(readFileSync(path, 'utf8')).toBe('short\n');
    });
  });
});
