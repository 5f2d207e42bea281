import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Merge } from '#api/types.ts';
import { lines } from '#git/repository.fixture.ts';
import { nextStep } from './batch.ts';
import { mergeController } from './controller.ts';
import { type MergeBench, mergeBench } from './merge.fixture.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

describe('what to verify next', () => {
  const chain = (results: readonly (boolean | undefined)[]) =>
    results.map(
      (passed, index) =>
        ({
          metadata: { uid: String(index) },
          spec: { verify: ['test'] },
          status: { candidate: `c${index}`, ...(passed === undefined ? {} : { verification: { commit: `c${index}`, passed } }) },
        }) as unknown as Merge,
    );

  it.each([
    { results: [undefined, undefined, undefined], want: { is: 'verify', index: 2 } },
    { results: [undefined, undefined, undefined, false], want: { is: 'verify', index: 1 } },
    { results: [undefined, false], want: { is: 'verify', index: 0 } },
    { results: [false, undefined], want: { is: 'fail', index: 0 } },
    { results: [undefined, true, undefined, false], want: { is: 'land', upTo: 1 } },
    { results: [true], want: { is: 'land', upTo: 0 } },
  ])('$results', ({ results, want }) => {
    expect(nextStep(chain(results), () => false)).toEqual(want);
  });

  it('waits for what runs, though others have joined', () => {
    const merges = chain([undefined, undefined, undefined]);
    expect(nextStep(merges, (merge) => merge === merges[1])).toEqual({ is: 'verify', index: 1 });
  });

  it.each([1, 2, 3, 5, 8])('finds the one that fails among %i with few runs, whichever it is', (count) => {
    for (let bad = 0; bad < count; bad += 1) {
      const results: (boolean | undefined)[] = Array(count).fill(undefined);
      let [landed, runs] = [0, 0];
      for (;;) {
        const step = nextStep(chain(results.slice(landed)), () => false);
        if (step.is === 'fail') break;
        if (step.is === 'land') landed += step.upTo + 1;
        else {
          results[landed + step.index] = landed + step.index < bad;
          runs += 1;
        }
      }
      expect(landed).toBe(bad);
      expect(runs).toBeLessThanOrEqual(Math.ceil(Math.log2(count)) + 1);
    }
  });
});

describe('merges that are verified together', () => {
  let shop: MergeBench;
  beforeEach(async () => {
    shop = await mergeBench(NAMES);
    shop.branches(Object.fromEntries(NAMES.map((name, index) => [name, { [index * 2 + 1]: name }])));
  });
  afterEach(() => shop.close());

  const open = (name: string, spec: object = {}) => shop.newMerge(name, { sources: [{ agent: name }], verify: ['make test'], ...spec });
  const phases = async () => Object.fromEntries(Object.entries(await shop.settleAll()).map(([name, status]) => [name, status?.phase]));
  const passes = (isGood: (text: string) => boolean) => {
    shop.world.verify = (commit) => {
      const passed = isGood(textAt(commit));
      return { passed, commands: [{ command: 'make test', exitCode: passed ? 0 : 1, output: '' }] };
    };
  };
  const textAt = (commit: string) => {
    const repository = shop.here.store.list('Team').items[0]?.metadata.uid;
    return shop.work.git(`--git-dir=${shop.home}/repos/${repository}.git`, 'show', `${commit}:a.txt`);
  };

  it('need one run, land in one step, and each says what it brought', async () => {
    for (const name of ['a', 'b', 'c']) await open(name, { verify: ['make test', `make ${name}`] });
    const waiting = await shop.settleAll();
    expect(shop.asked).toEqual([{ commit: waiting['c']?.candidate, commands: ['make test', 'make a', 'make b', 'make c'] }]);
    expect(waiting).toMatchObject({
      a: { phase: 'Merging', waitsFor: 'verify of a to c together' },
      b: { phase: 'Merging', position: 2, targetBefore: waiting['a']?.candidate },
      c: {
        phase: 'Merging',
        position: 3,
        targetBefore: waiting['b']?.candidate,
        waitsFor: expect.stringContaining('for a, b, c together'),
      },
    });
    expect(shop.work.head('main')).toBe(shop.base);
    passes(() => true);
    const done = await shop.settleAll();
    expect(Object.values(done).map((status) => [status?.phase, status?.totalCommitsApplied])).toEqual(Array(3).fill(['Merged', 1]));
    expect(shop.work.head('main')).toBe(done['c']?.targetAfter);
    expect(shop.asked).toHaveLength(1);
    expect(shop.work.git('status', '--porcelain')).toBe('');
    const refs = await (await shop.repositoryOf()).refs('refs/agentiso/merges');
    expect(refs.size).toBe(0);
  });

  it('are parted when the gate fails: the one that is to blame fails alone, the others land', async () => {
    for (const name of NAMES) await open(name);
    passes((text) => !text.includes('f\n'));
    expect(await phases()).toEqual({ ...Object.fromEntries(NAMES.map((name) => [name, 'Merged'])), f: 'Failed' });
    expect(shop.status('f')).toMatchObject({ reason: 'VerifyFailed' });
    const want = Object.fromEntries(NAMES.filter((name) => name !== 'f').map((name) => [NAMES.indexOf(name) * 2 + 1, name]));
    expect(`${textAt(shop.work.head('main'))}\n`).toBe(lines(20, want));
    // 8 at once, then 4, 6, 5 of them; what was left after the bad one, together.
    expect(shop.asked.length).toBeLessThanOrEqual(6);
  });

  it('go on with a new daemon at every step', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await open(name);
    passes((text) => !text.includes('c\n'));
    for (let round = 0; round < 40; round += 1) {
      for (const name of ['a', 'b', 'c', 'd']) await shop.here.reconcile(mergeController(shop.deps), 'Merge', name);
    }
    expect(['a', 'b', 'c', 'd'].map((name) => shop.status(name)?.phase)).toEqual(['Merged', 'Merged', 'Failed', 'Merged']);
  });

  it('leave one out that does not fit onto the others, and report the conflict only when those have landed', async () => {
    shop.branches({ b: { 1: 'not a' } });
    for (const name of ['a', 'b', 'c']) await open(name);
    const waiting = await shop.settleAll();
    expect(waiting).toMatchObject({ a: { phase: 'Merging' }, b: { phase: 'Queued' }, c: { phase: 'Queued' } });
    expect(waiting['b']).not.toHaveProperty('conflicts');
    expect(shop.notices).toEqual([]);
    passes(() => true);
    expect(await phases()).toEqual({ a: 'Merged', b: 'Conflicted', c: 'Merged' });
  });

  it('wait in line while others are verified, and go together next', async () => {
    await open('a');
    await shop.settleAll();
    shop.here.pass(2_000);
    for (const name of ['b', 'c']) await open(name);
    const waiting = await shop.settleAll();
    expect(waiting).toMatchObject({
      b: { phase: 'Queued', position: 2 },
      c: { phase: 'Queued', position: 3, waitsFor: 'merge b, which goes first' },
    });
    passes(() => true);
    expect(await phases()).toEqual({ a: 'Merged', b: 'Merged', c: 'Merged' });
    expect(shop.asked).toHaveLength(2);
  });

  it('do not take along what waits for people, and start again when the first is taken out', async () => {
    await open('a');
    await open('b');
    await open('c', { approval: 'Required' });
    const waiting = await shop.settleAll();
    expect(waiting).toMatchObject({ b: { position: 2 }, c: { phase: 'Queued' } });
    await shop.here.client.delete({ kind: 'Merge', namespace: 'default', name: 'a' });
    await shop.settleAll();
    expect(shop.status('b')).toMatchObject({ phase: 'Merging', targetBefore: shop.base });
    passes(() => true);
    expect(await phases()).toEqual({ b: 'Merged', c: 'Merging' });
    expect(textAt(shop.work.head('main')).split('\n')[0]).toBe('line 1');
  });
});
