import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { encodeFrame, MAX_FRAME_BYTES } from '#protocol/framing.ts';
import { execMark, fitIntoAnswer, MAX_KEPT_BYTES, Output, type OutputText, TRUNCATION_MARK } from './output.ts';

async function keep(chunks: readonly Buffer[]): Promise<OutputText> {
  const stream = Readable.from(chunks);
  const output = new Output(stream);
  await finished(stream);
  return output.read();
}

describe('Output', () => {
  it('keeps a character that arrives in two pieces', async () => {
    const bytes = Buffer.from('a€b');
    expect(await keep([bytes.subarray(0, 2), bytes.subarray(2)])).toEqual({ text: 'a€b', isTruncated: false, totalBytes: 5 });
  });

  it('is not truncated at exactly the limit', async () => {
    expect(await keep([Buffer.alloc(MAX_KEPT_BYTES, 'x')])).toMatchObject({ text: 'x'.repeat(MAX_KEPT_BYTES), isTruncated: false });
  });

  it('cuts before a character that the limit would split', async () => {
    const start = Buffer.alloc(MAX_KEPT_BYTES - 2, 'x');
    const { text, isTruncated } = await keep([start, Buffer.from('€€')]);
    expect(isTruncated).toBe(true);
    expect(text.length).toBe(MAX_KEPT_BYTES - 2);
    expect(text.endsWith('x')).toBe(true);
  });
});

describe('fitIntoAnswer', () => {
  const whole = (text: string): OutputText => ({ text, isTruncated: false, totalBytes: Buffer.byteLength(text) });

  it('leaves alone what fits', () => {
    const outputs = { stdout: whole('a\n'), stderr: whole('') };
    expect(fitIntoAnswer(outputs)).toEqual(outputs);
  });

  it('leaves one full stream whole when the other is small', () => {
    const full = { text: 'x'.repeat(MAX_KEPT_BYTES), isTruncated: true, totalBytes: 5_000_000 };
    const { stdout, stderr } = fitIntoAnswer({ stdout: full, stderr: whole('note') });
    expect(stdout.text).toBe('x'.repeat(MAX_KEPT_BYTES) + TRUNCATION_MARK);
    expect(stderr).toEqual(whole('note'));
  });

  it('says in the mark of an exec how much there was and how much is shown', () => {
    const { stdout } = fitIntoAnswer({ stdout: { text: 'ab€', isTruncated: true, totalBytes: 5_000_000 }, stderr: whole('') }, execMark);
    expect(stdout.text).toBe('ab€\n[TRUNCATED: 5000000 bytes total, showing first 5 bytes]');
  });

  it.each([
    { name: 'plain text', text: 'x'.repeat(MAX_KEPT_BYTES) },
    { name: 'control characters, six bytes each', text: '\u0001'.repeat(MAX_KEPT_BYTES) },
    { name: 'pairs of surrogates', text: '😀'.repeat(MAX_KEPT_BYTES / 4) },
    { name: 'replacement characters', text: '\ufffd'.repeat(MAX_KEPT_BYTES) },
  ])('makes two full streams of $name fit one frame, cut between characters', ({ text }) => {
    const { stdout, stderr } = fitIntoAnswer({ stdout: whole(text), stderr: whole(text) });
    expect(encodeFrame({ stdout: stdout.text, stderr: stderr.text }).length).toBeGreaterThan(MAX_FRAME_BYTES * 0.95);
    for (const fitted of [stdout, stderr].filter(({ isTruncated }) => isTruncated)) {
      const kept = fitted.text.slice(0, -TRUNCATION_MARK.length);
      expect(fitted.text.endsWith(TRUNCATION_MARK)).toBe(true);
      expect(text.startsWith(kept) && Buffer.from(kept).toString() === kept).toBe(true);
    }
  });
});
