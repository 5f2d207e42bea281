import { describe, expect, it } from 'vitest';
import type { Envelope } from './mail.ts';
import { decodeRecord, encodeRecord, type MailRecord } from './record.ts';
import { uuidV7 } from './uuid.ts';

const message: Envelope = {
  message_id: uuidV7(0),
  seq: 1,
  namespace: 'default',
  team: 'web',
  from: 'a',
  to: 'b',
  message_type: 'text',
  content: 'grüße "quoted"\nsecond line \u2028 \u0000 \ud800 ,"crc":"00000000"}',
  timestamp: '2026-01-01T00:00:00.000Z',
};

describe('a line of a mail journal', () => {
  it.each<MailRecord>([
    { is: 'message', message, key: 'k' },
    { is: 'delivered', seq: 3 },
    { is: 'acked', ids: ['a', 'b'], at: '2026-01-01T00:00:00.000Z' },
    { is: 'dead', ids: [], at: '2026-01-01T00:00:00.000Z' },
    { is: 'mailbox', nextSeq: 7, deadLetters: 2 },
  ])('is one line of JSON that gives the same record back: $is', (record) => {
    const line = encodeRecord(record);
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(JSON.parse(line.toString())).toMatchObject({ is: record.is });
    expect(decodeRecord(line)).toEqual(record);
    expect(decodeRecord(line.subarray(0, -1))).toEqual(record);
  });

  it('is refused when any byte of it is changed or missing', () => {
    const line = encodeRecord({ is: 'message', message }).subarray(0, -1);
    for (let at = 0; at < line.length; at++) {
      const changed = Buffer.from(line);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(decodeRecord(changed), `byte ${at}`).toBeUndefined();
      expect(decodeRecord(line.subarray(0, at)), `first ${at} bytes`).toBeUndefined();
    }
  });
});

describe('uuidV7', () => {
  it('has version, variant and the time in front', () => {
    const id = uuidV7(Date.parse('2026-01-01T00:00:00.000Z'));
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(Date.parse('2026-01-01T00:00:00.000Z'));
    expect(uuidV7(0)).not.toBe(uuidV7(0));
  });
});
