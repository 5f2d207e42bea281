/** The environment of an agent: a few variables of the workspace, a home of its own, silence towards its makers, then what it asks for. Pure. */
import { join } from 'node:path';
import type { Launch } from './backend.ts';

/** What it may know of the environment it is started from. */
const INHERITED = [
  ...['PATH', 'SHELL', 'LANG', 'USER', 'LOGNAME', 'NODE_ENV', 'AGENTISO_TOOLS', 'AGENTISO_SOCKET', 'AGENTISO_NODE'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
];

/** Found again by its workspace's mark: a process without it could outlive the workspace. */
const MARKS = ['AGENTISO_MARK', 'AGENTISO_WORKSPACE'];

export interface EnvironmentOf {
  readonly inherited: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly launch: Pick<Launch, 'env'>;
}

export function environmentOf({ inherited, home, launch }: EnvironmentOf): Record<string, string> {
  const kept = [...INHERITED, ...MARKS].flatMap((name) => {
    const value = inherited[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { LANG: 'C.UTF-8', ...Object.fromEntries(kept), ...homeVariables(home), ...QUIET, ...launch.env };
}

/** Folders that the variables name; to be made before the start. */
export function homeFolders(home: string): string[] {
  return Object.values(homeVariables(home));
}

/** Temporary files too: /tmp of a sandbox is memory, and what agents unpack there would count as theirs. */
function homeVariables(home: string): Record<string, string> {
  return {
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    TMPDIR: join(home, 'tmp'),
  };
}

const QUIET = { TERM: 'dumb', NO_COLOR: '1', DO_NOT_TRACK: '1', DISABLE_TELEMETRY: '1', NO_UPDATE_NOTIFIER: '1' };
