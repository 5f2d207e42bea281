/** Every backend there is, in the order in which they are listed. */
import { acp } from './acp.ts';
import type { Backend, BackendName } from './backend.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { droid } from './droid.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { qwen } from './qwen.ts';
import { shell } from './shell.ts';

export const allBackends: readonly Backend[] = [shell, claudeCode, codex, gemini, qwen, opencode, droid, acp];

/** Those that come from npm. */
export const installableBackends: readonly Backend[] = allBackends.filter(({ packages }) => packages.length > 0);

export function backendNamed(name: BackendName): Backend {
  const backend = allBackends.find((each) => each.name === name);
  if (backend === undefined) throw new Error(`there is no backend ${name}`);
  return backend;
}
