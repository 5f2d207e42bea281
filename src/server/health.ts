/** healthz, livez, readyz: for probes, and for whoever wonders. The one thing that needs no token. */
import type { Answer } from './call.ts';
import { flag } from './params.ts';

export interface Health {
  /** By name; undefined when all is well, else what is wrong. */
  readonly checks: Checks;
  /** Of readyz only: what starting the daemon again would not mend. */
  readonly readiness?: Checks;
}

type Checks = Readonly<Record<string, () => string | undefined>>;

const PATHS = /^\/(healthz|livez|readyz)(?:\/([a-z-]+))?\/?$/;
const PREFIXES = ['/healthz', '/livez', '/readyz'];

/** Undefined for every other path. */
export function healthAnswer({ checks: always, readiness = {} }: Health, path: string, query: URLSearchParams): Answer | undefined {
  if (!PREFIXES.some((prefix) => path.startsWith(prefix))) return undefined;
  const [, endpoint, only] = PATHS.exec(path) ?? [];
  if (!endpoint) return undefined;
  const checks = endpoint === 'readyz' ? { ...always, ...readiness } : always;
  if (only !== undefined && !Object.hasOwn(checks, only)) return undefined;
  const excluded = query.getAll('exclude');
  const results = Object.entries(checks)
    .filter(([name]) => only === undefined || name === only)
    .map(([name, check]) => (only === undefined && excluded.includes(name) ? { name } : { name, problem: check() ?? '' }));
  const isHealthy = results.every(({ problem = '' }) => problem === '');
  const summary = `${endpoint} check ${isHealthy ? 'passed' : 'failed'}`;
  const lines = results.map(lineOf);
  const isShort = isHealthy && (only !== undefined || !flag(query, 'verbose'));
  return {
    status: isHealthy ? 200 : 503,
    body: isShort ? 'ok' : `${[...lines, summary].join('\n')}\n`,
    contentType: 'text/plain; charset=utf-8',
  };
}

/** Without a problem it was not asked; with an empty one, all is well. */
function lineOf({ name, problem }: { name: string; problem?: string }): string {
  if (problem === undefined) return `[+]${name} excluded: ok`;
  return problem === '' ? `[+]${name} ok` : `[-]${name} failed: ${problem}`;
}
