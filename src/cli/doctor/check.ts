/** What a look at the machine is, and what it can find. */
import type { PackageName } from './packages.ts';

/** `unproven`: it seems to be there, and nothing has shown that it works. */
export type State = 'ok' | 'missing' | 'broken' | 'unproven';

export interface Finding {
  readonly state: State;
  /** In a few words: a version, or what went wrong. */
  readonly detail: string;
  readonly fix?: Fix;
}

/** A package to install, or what else to do. */
export type Fix = { readonly install: PackageName } | { readonly advice: string };

export interface Check {
  readonly name: string;
  /** Without it nothing works. Others are for some things only. */
  readonly isNeeded: boolean;
  /** Completes "needed for …". */
  readonly purpose: string;
  /** Changes nothing, needs no rights, and takes seconds at most. */
  look(): Promise<Finding>;
}

export interface Result extends Finding {
  readonly name: string;
  readonly isNeeded: boolean;
  readonly purpose: string;
}

export const ok = (detail: string): Finding => ({ state: 'ok', detail });
export const missing = (detail: string, fix?: Fix): Finding => ({ state: 'missing', detail, ...(fix ? { fix } : {}) });
export const broken = (detail: string, fix?: Fix): Finding => ({ state: 'broken', detail, ...(fix ? { fix } : {}) });

/** Nothing that a check does wrong or takes too long over keeps the others from being told. */
export async function runChecks(checks: readonly Check[], timeoutMs: number): Promise<readonly Result[]> {
  return Promise.all(
    checks.map(async ({ name, isNeeded, purpose, look }) => ({ name, isNeeded, purpose, ...(await bounded(look, timeoutMs)) })),
  );
}

async function bounded(look: Check['look'], timeoutMs: number): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(() => resolve(broken(`no answer within ${timeoutMs / 1_000} s`)), timeoutMs);
  });
  try {
    return await Promise.race([look(), late]);
  } catch (error) {
    return broken(error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
  }
}
