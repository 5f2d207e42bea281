import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bundleGuest, type GuestBundle } from '../test/support/guest-bundle.ts';
import { startGuestProcess } from '../test/support/running-guest.ts';
import { CONFIGURATION } from './relay/fake-host.fixture.ts';

let bundle: GuestBundle;

beforeAll(async () => {
  bundle = await bundleGuest();
});

afterAll(() => bundle?.remove());

/** What V8 says about the compiled code in the pack. */
const LOOK = `
const pack = require('node:fs').readFileSync(process.argv[1]);
const end = 4 + pack.readUInt32LE(0);
const script = new (require('node:vm').Script)(pack.toString('latin1', 4, end), { cachedData: pack.subarray(end) });
process.stdout.write(String(script.cachedDataRejected));
`;

async function isRejected(...flags: readonly string[]): Promise<string> {
  return (await promisify(execFile)(process.execPath, [...flags, '-e', LOOK, bundle.packPath])).stdout;
}

const COUNT_THREADS = "console.log(require('node:fs').readdirSync('/proc/self/task').length)";

/** Node of another version does not take it either; that takes another Node to see. */
const OTHER_FLAG = '--no-opt';

describe('the guest agent as it is shipped', () => {
  it('comes with compiled code that this Node takes', async () => {
    expect(await isRejected()).toBe('false');
  });

  it('starts all the same where Node does not take the compiled code', async () => {
    expect(await isRejected(OTHER_FLAG)).toBe('true');
    const guest = await startGuestProcess(bundle.path, { nodeArgs: [OTHER_FLAG] });
    expect(await guest.client.call('ping', {})).toMatchObject({ uptimeMs: expect.any(Number) });
    await guest.stop();
  });

  it('starts all the same without compiled code', async () => {
    const pack = await readFile(bundle.packPath);
    await writeFile(bundle.packPath, pack.subarray(0, 4 + pack.readUInt32LE(0)));
    const guest = await startGuestProcess(bundle.path).finally(() => writeFile(bundle.packPath, pack));
    expect(await guest.client.call('ping', {})).toMatchObject({ uptimeMs: expect.any(Number) });
    await guest.stop();
  });

  it('is plain ASCII, because it is read as such', async () => {
    const pack = await readFile(bundle.packPath);
    expect(pack.subarray(4, 4 + pack.readUInt32LE(0)).every((byte) => byte < 0x80)).toBe(true);
  });

  it('has loaded no module of Node that only some guests need, once its host has it', async () => {
    const spy = join(dirname(bundle.path), 'spy.cjs');
    const list = join(dirname(bundle.path), 'modules');
    await writeFile(
      spy,
      `process.on('SIGUSR2', () => require('node:fs').writeFileSync(${JSON.stringify(list)}, process.moduleLoadList.join('\\n')));`,
    );
    const guest = await startGuestProcess(bundle.path, { nodeArgs: ['--require', spy] });
    await guest.client.call('configure', CONFIGURATION);
    guest.child.kill('SIGUSR2');
    const loaded = await vi.waitFor(async () => (await readFile(list, 'utf8')).split('\n'), 10_000);
    const threads = await readdir(`/proc/${guest.child.pid}/task`);
    const bare = await promisify(execFile)(process.execPath, ['-e', COUNT_THREADS]);
    await guest.stop();
    expect(loaded).toContain('NativeModule net');
    const late = ['crypto', 'fs/promises', 'http', 'perf_hooks', 'stream/consumers', 'internal/util/parse_args/parse_args'];
    const forOthers = ['child_process', 'cluster', 'dgram'];
    expect([...late, ...forOthers].filter((name) => loaded.includes(`NativeModule ${name}`))).toEqual([]);
    // Nor has it any thread that Node does not have by itself.
    expect(threads).toHaveLength(Number(bare.stdout));
  });
});
