/** A vault in a folder of its own, for tests. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isCode, messageOf } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { openVault } from './open-vault.ts';
import type { Vault } from './vault.ts';

export interface TestVault {
  readonly home: string;
  readonly vault: Vault;
  /** Where a path of the vault is on disk. */
  at(path: string): string;
  /** As a person would put it there, past the vault. */
  put(path: string, content: string | Buffer): void;
  end(): Promise<void>;
}

export async function testVault(): Promise<TestVault> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'agentiso-vault-')));
  const vault = await openVault({ home, log: silentLogger });
  const at = (path: string) => join(home, 'vault', path);
  return {
    home,
    vault,
    at,
    put(path, content) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
    },
    async end() {
      await vault.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The code of a refusal and its words; `answered` when there was none. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'answered';
  } catch (error) {
    const code = (error as { code?: string }).code ?? '';
    return isCode(error, code as never) ? `${code}: ${messageOf(error)}` : `not refused but failed: ${messageOf(error)}`;
  }
}

export const OWN = { namespace: 'default', team: 'a' } as const;
