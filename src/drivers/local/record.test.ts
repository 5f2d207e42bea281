import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRecord, writeRecord } from './record.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agentiso-record-'));
});

afterAll(() => rm(directory, { recursive: true }));

describe('the record of a workspace', () => {
  it('is read as it was written', async () => {
    const path = join(directory, 'whole.json');
    const record = { id: 'a', incarnation: 'b', process: { pid: 7, startTime: 8, bootId: 'c' }, groups: ['/g'] };
    await writeRecord(path, { id: 'a', incarnation: 'b' });
    expect(await readRecord(path)).toEqual({ id: 'a', incarnation: 'b' });
    await writeRecord(path, record);
    expect(await readRecord(path)).toEqual(record);
  });

  it('may be absent', async () => {
    expect(await readRecord(join(directory, 'absent.json'))).toBeUndefined();
  });

  it.each([
    '',
    '{',
    'null',
    '{"id":"a"}',
    '{"id":"a","incarnation":"b","process":{"pid":-1,"startTime":1,"bootId":"c"}}',
    '{"id":"a","incarnation":"b","process":{"pid":"1","startTime":1,"bootId":"c"}}',
    '{"id":"a","incarnation":"b","process":null}',
    '{"id":"a","incarnation":"b","groups":"/g"}',
    '{"id":"a","incarnation":"b","groups":[1]}',
  ])('cannot be told from %s', async (text) => {
    const path = join(directory, 'bad.json');
    await writeFile(path, text);
    await expect(readRecord(path)).rejects.toMatchObject({ reason: 'RecordUnreadable' });
  });
});
