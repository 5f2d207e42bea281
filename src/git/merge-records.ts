/** What `git merge-tree --stdin -z --messages` writes, as values. Pure. */

export interface ConflictStage {
  readonly mode: string;
  readonly id: string;
  /** 1 the common ancestor, 2 ours, 3 theirs. */
  readonly stage: number;
  readonly path: string;
}

export interface MergeMessage {
  readonly paths: readonly string[];
  /** `Auto-merging`, `CONFLICT (contents)` and the like. */
  readonly type: string;
  readonly text: string;
}

export interface MergeRecord {
  readonly isClean: boolean;
  /** In a conflict: with markers in the files. */
  readonly tree: string;
  readonly stages: readonly ConflictStage[];
  readonly messages: readonly MergeMessage[];
}

const STAGE = /^(\d+) ([0-9a-f]+) ([123])\t([\s\S]*)$/;

/**
 * Fields in order: status, tree, stages until an empty one, messages until an empty one. The empty field that ends a record is written with
 * the next one, so a record is complete only when something follows it.
 */
export class MergeRecordReader {
  #rest: Buffer = Buffer.alloc(0);
  #fields: string[] = [];

  /** The records that are complete with this chunk. */
  push(chunk: Buffer): MergeRecord[] {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = data.lastIndexOf(0);
    if (end < 0) {
      this.#rest = data;
      return [];
    }
    this.#rest = Buffer.from(data.subarray(end + 1));
    this.#fields.push(...fieldsOf(data.subarray(0, end)));
    const records: MergeRecord[] = [];
    for (let found = this.#take(); found !== undefined; found = this.#take()) records.push(found);
    return records;
  }

  #take(): MergeRecord | undefined {
    const found = parseRecord(this.#fields);
    if (found === undefined) return undefined;
    this.#fields.splice(0, found.length);
    return found.record;
  }
}

function fieldsOf(data: Buffer): string[] {
  const text = data.toString('utf8');
  return text.includes('\uFFFD') ? data.toString('latin1').split('\0').map(toReadable) : text.split('\0');
}

/** Paths are bytes. One that is no UTF-8 is shown as git shows it, so that two of them never look the same. */
function toReadable(bytes: string): string {
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  if (!text.includes('\uFFFD')) return text;
  return bytes.replace(/[\x80-\xff]/g, (byte) => `\\${byte.charCodeAt(0).toString(8)}`);
}

function parseRecord(fields: readonly string[]): { readonly record: MergeRecord; readonly length: number } | undefined {
  const [status, tree] = fields;
  if (status === undefined || tree === undefined) return undefined;
  const stagesEnd = fields.indexOf('', 2);
  if (stagesEnd < 0) return undefined;
  const stages = fields.slice(2, stagesEnd).map(parseStage);
  const messages: MergeMessage[] = [];
  for (let at = stagesEnd + 1; ; ) {
    const count = fields[at];
    if (count === undefined) return undefined;
    if (count === '') return { record: { isClean: status === '1', tree, stages, messages }, length: at + 1 };
    const end = at + 1 + Number(count);
    const [type, text] = fields.slice(end, end + 2);
    if (type === undefined || text === undefined) return undefined;
    messages.push({ paths: fields.slice(at + 1, end), type, text: text.trim() });
    at = end + 2;
  }
}

function parseStage(field: string): ConflictStage {
  const [, mode, id, stage, path] = STAGE.exec(field) ?? [];
  if (mode === undefined || id === undefined || path === undefined) throw new Error(`merge-tree said ${JSON.stringify(field)}`);
  return { mode, id, stage: Number(stage), path };
}
