/** Templates that homes share: made once, whoever wants one, whole or not at all, and the first machine of the next home begins as a copy. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { vmDriver } from '#drivers/vm/driver.ts';
import { type TemplateKind, Templates } from '#drivers/vm/templates.ts';
import { type Logger, silentLogger } from '#lib/log.ts';
import { guestAgentPath } from '../../src/guest-agent-path.ts';
import { temporaryFolder } from '../support/daemon.ts';
import { createWhenPossible, deleteFully, run, SIGNAL, SPEC, WAIT } from '../support/driver-steps.ts';
import { findTestImage, machinesHere, qemuOf, templateKind } from '../support/machines.ts';
import { processesMentioning } from '../support/processes.ts';
import { requires } from '../support/requirements.ts';
import { scriptCommand } from '../support/script.ts';

const here = await machinesHere();
const TEST_MS = 300_000;

requires(here.support !== undefined, `virtual machines: ${here.reason}`)('templates of machines', () => {
  const place = temporaryFolder();
  const directory = join(place.folder, 'shared');
  let kind: TemplateKind;

  beforeAll(async () => {
    const image = await findTestImage(guestAgentPath());
    if (here.support === undefined || image === undefined) throw new Error(here.reason);
    kind = templateKind(here.support, image, SPEC.resources);
  });
  afterAll(() => place.remove());

  const whole = () => readdirSync(directory).filter((name) => existsSync(join(directory, name, 'state')) && !name.includes('.'));

  it(
    'are not there when whoever made one was killed, who leaves no machine behind',
    async () => {
      const [command, ...args] = scriptCommand('template-maker.ts', [directory, join(place.folder, 'killed'), JSON.stringify(kind)]);
      const maker = spawn(command, args);
      const ended = once(maker, 'exit');
      // Its machine is there when it can be reached.
      const sockets = () => readdirSync(directory).flatMap((name) => readdirSync(join(directory, name, 'run')));
      await vi.waitFor(() => expect(sockets()).not.toEqual([]), { ...WAIT, interval: 5 });
      expect(readdirSync(directory)).toEqual([expect.stringMatching(/\.new$/)]);
      maker.kill('SIGKILL');
      await ended;
      await vi.waitFor(() => expect(processesMentioning(directory)).toEqual([]), WAIT);
      expect(whole()).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'are made once by daemons that want the same at the same time, and are nobody else’s to read',
    async () => {
      if (here.support === undefined) throw new Error(here.reason);
      const { support } = here;
      const said: string[] = [];
      const log = { ...silentLogger, info: (_: object, text: string) => said.push(text) } as unknown as Logger;
      const caches = { directories: [directory], budgetBytes: () => 2 ** 34 };
      const daemons = ['one', 'two'].map((home) => new Templates({ directory, copies: join(place.folder, home), support, log, caches }));
      await Promise.all(daemons.map((templates) => templates.make(kind)));
      expect([said, readdirSync(directory)]).toEqual([['template of machines made'], [expect.stringMatching(/^[0-9a-f]{32}$/)]]);
      const files = [directory, ...['', 'memory', 'state'].map((name) => join(directory, whole()[0] ?? '', name))].map((path) =>
        statSync(path),
      );
      expect(files.map(({ uid, mode }) => [uid, mode & 0o077])).toEqual(files.map(() => [0, 0]));
      await Promise.all(daemons.map((templates) => templates.close()));
    },
    TEST_MS,
  );

  it(
    'stay when somebody kills machines that begin as copies, however many in a row',
    async () => {
      if (here.support === undefined) throw new Error(here.reason);
      const stateDir = join(place.folder, 'killed-copies');
      const findImage = () => findTestImage(guestAgentPath());
      const driver = vmDriver({ stateDir, log: silentLogger, support: here.support, findImage, templates: directory });
      for (const incarnation of ['first', 'second', 'third']) {
        const loading = join(driver.runDirectory(SPEC.id), 'migration.sock');
        rmSync(loading, { force: true });
        const { pid = 0 } = await createWhenPossible(driver, { ...SPEC, incarnation });
        // Its state is about to be loaded.
        await vi.waitFor(() => expect(existsSync(loading)).toBe(true), { ...WAIT, interval: 1 });
        process.kill(qemuOf(pid) ?? Number.NaN, 'SIGKILL');
        await vi.waitFor(async () => expect(await driver.get(SPEC.id, SIGNAL)).toMatchObject({ phase: 'exited' }), WAIT);
      }
      await createWhenPossible(driver, { ...SPEC, incarnation: 'fourth' });
      expect(await run(driver, 'echo up')).toBe('up\n');
      const { state } = JSON.parse(readFileSync(join(stateDir, SPEC.id, 'machine.json'), 'utf8'));
      expect([whole(), state]).toEqual([[expect.any(String)], join(stateDir, '.templates', `${whole()[0]}-70001`, 'state')]);
      await deleteFully(driver, SPEC.id);
      await driver.close();
    },
    TEST_MS,
  );

  it(
    'serve the first machine of the next home, and go without it when there is no room for them',
    async () => {
      if (here.support === undefined) throw new Error(here.reason);
      const { support } = here;
      const stateDir = join(place.folder, 'next');
      let cacheMiB = 16_384;
      const findImage = () => findTestImage(guestAgentPath());
      const driver = vmDriver({ stateDir, log: silentLogger, support, findImage, templates: directory, cacheMiB: () => cacheMiB });
      await driver.create(SPEC, SIGNAL);
      expect(await run(driver, 'hostname')).toBe('agent-1\n');
      const { state } = JSON.parse(readFileSync(join(stateDir, SPEC.id, 'machine.json'), 'utf8'));
      const [copy = ''] = readdirSync(join(stateDir, '.templates'));
      expect([state, copy]).toEqual([join(stateDir, '.templates', copy, 'state'), `${whole()[0]}-70001`]);
      expect(statSync(join(stateDir, '.templates', copy, 'memory')).uid).toBe(70_001);
      // Another team has a copy of its own, for which the longest unused goes; those that run have what they began with.
      cacheMiB = 1;
      const other = { ...SPEC, id: 'other', team: 2 };
      await driver.create(other, SIGNAL);
      expect(await run(driver, 'perl -e "print 5"', other.id)).toBe('5');
      expect([whole(), readdirSync(join(stateDir, '.templates'))]).toEqual([[], [copy.replace('70001', '70002')]]);
      expect(await run(driver, 'git --version | cut -c 1-3')).toBe('git\n');
      // That one machine booted nothing says: what a kernel writes when it begins is not on its console.
      for (const id of [SPEC.id, other.id]) {
        await vi.waitFor(async () => expect(await driver.stop(id, SIGNAL)).toBe(true), WAIT);
        expect(readFileSync(join(stateDir, id, 'console.log'), 'utf8')).not.toContain('starting the guest agent');
        await deleteFully(driver, id);
      }
      await driver.close();
    },
    TEST_MS,
  );
});
