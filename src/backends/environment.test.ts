import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { environmentOf, homeFolders } from './environment.ts';
import { writeHome } from './write-home.ts';

it('gives an agent a home of its own, its settings, and of the rest only what it may know', () => {
  const inherited = {
    PATH: '/bin',
    HOME: '/root',
    AGENTISO_SOCKET: '/s',
    OPENAI_API_KEY: 'real',
    LD_PRELOAD: '/x',
    HTTPS_PROXY: 'http://p',
  };
  const environment = environmentOf({ inherited, home: '/h', launch: { env: { OWN: '1', TERM: 'xterm' } } });
  expect(environment).toMatchObject({ PATH: '/bin', HOME: '/h', TMPDIR: '/h/tmp', AGENTISO_SOCKET: '/s', HTTPS_PROXY: 'http://p' });
  expect(environment).toMatchObject({ OWN: '1', TERM: 'xterm', DO_NOT_TRACK: '1', LANG: 'C.UTF-8' });
  expect(Object.keys(environment).filter((name) => ['OPENAI_API_KEY', 'LD_PRELOAD'].includes(name))).toEqual([]);
});

it('makes a home ready that nobody else can read, also for the second time', async () => {
  const home = join(mkdtempSync(join(tmpdir(), 'agentiso-home-')), 'home');
  try {
    await writeHome(home, [{ path: '.x/settings.json', text: 'old' }]);
    await writeHome(home, [{ path: '.x/settings.json', text: 'new' }]);
    expect(readFileSync(join(home, '.x/settings.json'), 'utf8')).toBe('new');
    expect(statSync(join(home, '.x/settings.json')).mode & 0o777).toBe(0o600);
    for (const folder of homeFolders(home)) expect(statSync(folder).mode & 0o777).toBe(0o700);
  } finally {
    rmSync(join(home, '..'), { recursive: true });
  }
});
