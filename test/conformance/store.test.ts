import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { admission, kinds } from '#api/kinds.ts';
import { silentLogger } from '#lib/log.ts';
import { DirectoryStore } from '#store/directory.ts';
import { memoryStore } from '../support/memory-store.ts';
import { HISTORY_LIMIT, type StoreUnderTest, storeConformance } from './store.ts';

async function openDirectory(home: string): Promise<StoreUnderTest> {
  const directory = await DirectoryStore.open({ home, kinds, admission, log: silentLogger, historyLimit: HISTORY_LIMIT });
  return {
    store: directory.store,
    async reopen() {
      await directory.close();
      return openDirectory(home);
    },
    async dispose() {
      await directory.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function newMemory(): Promise<StoreUnderTest> {
  return { store: memoryStore({ kinds, admission, historyLimit: HISTORY_LIMIT }), reopen: newMemory, dispose: async () => {} };
}

describe('the memory store', () => {
  storeConformance(newMemory, { isDurable: false });
});

describe('the directory store', () => {
  storeConformance(async () => openDirectory(await mkdtemp(join(tmpdir(), 'agentiso-store-'))), { isDurable: true });
});
