/**
 * Makes the templates that most tests of machines begin with, which are those of this user's homes: files that run beside each other would boot a machine each until one
 * of them has made it. Without machines here it does nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Templates } from '#drivers/vm/templates.ts';
import { silentLogger } from '#lib/log.ts';
import { guestAgentPath } from '../../src/guest-agent-path.ts';
import { findTestImage, machinesHere, templateKind, testTemplatesDirectory } from './machines.ts';

/** As in driver-steps.ts and the teams of vm-team.test.ts and vm-full-disk.test.ts. */
const RESOURCES = { vcpus: 1, memoryMiB: 256, diskGiB: 1 };
/** With tools: vm-pool.test.ts. */
const KINDS = [RESOURCES, { ...RESOURCES, toolsGiB: 1 }];

const [{ support }, image] = [await machinesHere(), await findTestImage(guestAgentPath())];
// Templates keep no process alive by themselves.
const alive = setInterval(() => {}, 60_000);
if (support !== undefined && image !== undefined) {
  const copies = mkdtempSync(join(tmpdir(), 'agentiso-templates-'));
  const directory = await testTemplatesDirectory();
  const caches = { directories: [directory], budgetBytes: () => 2 ** 34 };
  const templates = new Templates({ directory, copies, support, log: silentLogger, caches });
  for (const kind of KINDS) await templates.make(templateKind(support, image, kind));
  await templates.close();
  rmSync(copies, { recursive: true });
}
clearInterval(alive);
