import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#lib/json.ts';
import { editedJson } from './edited-json.ts';

const edited = (value: JsonObject, text: string, except?: readonly string[]) =>
  editedJson(text, { text: JSON.stringify(value), value }, except);

const VALUE = {
  kind: 'x',
  metadata: { name: 'a', fields: { 'v:"a"': {}, 'k:{"b":"c\\"}': {} } },
  spec: { title: 'old', count: 12, isOn: true, list: ['a', { b: 'c' }, 3], none: null, empty: '', more: {} },
};

describe('editedJson', () => {
  it.each([
    ['a text', '"old"', '"newer"'],
    ['a text that grows', '"old"', '"old one"'],
    ['a text that becomes empty', '"old"', '""'],
    ['an empty text', ':""', ':"x"'],
    ['a number', '12', '13'],
    ['a number that grows', '12', '123'],
    ['a number that shrinks', '12', '1'],
    ['a truth', 'true', 'false'],
    ['a text that becomes a number', '"old"', '5'],
    ['a number that becomes a text', '12', '"12"'],
    ['what was null', 'null', '1'],
    ['an item', '"a",{"b"', '"z",{"b"'],
    ['something in an item', '"c"}', '"d"}'],
  ])('knows %s', (_name, before, after) => {
    const text = JSON.stringify(VALUE).replace(before, after);
    const got = edited(VALUE, text);
    expect(JSON.stringify(got)).toBe(text);
    expect(got?.['metadata']).toBe(VALUE.metadata);
  });

  it('is the known value where nothing has changed', () => {
    expect(edited(VALUE, JSON.stringify(VALUE))).toBe(VALUE);
  });

  it.each([
    ['two values', '"old","count":12', '"new","count":13'],
    ['a key', '"title"', '"tit1e"'],
    ['a key more', '{"title"', '{"a":1,"title"'],
    ['a key less', ',"count":12', ''],
    ['an item more', '3]', '3,4]'],
    ['an item less', ',3]', ']'],
    ['a number without end', '12', '1e999'],
    ['null', '12', 'null'],
    ['a list', '12', '[12]'],
    ['what is written in another way than it reads', '"old"', '"o\\u006cd!"'],
    ['a text with a line break', '"old"', '"o\nld"'],
    ['a number that is none', '12', '012'],
    ['spaces', '12', ' 13'],
    ['what is cut off', '12', ''],
    ['what goes on', '}}', '}}x'],
  ])('leaves %s to the parser', (_name, before, after) => {
    expect(edited(VALUE, JSON.stringify(VALUE).replace(before, after))).toBeUndefined();
  });

  it('leaves to the parser what it is told to', () => {
    const text = JSON.stringify(VALUE).replace('"a"', '"b"');
    expect(edited(VALUE, text)).toBeDefined();
    expect(edited(VALUE, text, ['metadata'])).toBeUndefined();
  });

  it('never says anything else than the parser, whatever is changed in a text', () => {
    const json = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1, maxKeys: 4 });
    const change = fc.record({
      at: fc.nat(400),
      removed: fc.nat(6),
      added: fc.oneof(fc.string({ maxLength: 6 }), fc.json({ maxDepth: 1 })),
    });
    let known = 0;
    fc.assert(
      fc.property(json, change, (given, { at, removed, added }) => {
        const value = JSON.parse(JSON.stringify(given)) as JsonObject;
        const text = JSON.stringify(value);
        const place = at % text.length;
        const changed = text.slice(0, place) + added + text.slice(place + removed);
        const got = edited(value, changed);
        if (got === undefined) return;
        known++;
        expect(JSON.stringify(got)).toBe(JSON.stringify(JSON.parse(changed)));
      }),
      { numRuns: 5_000 },
    );
    // Or it would have shown nothing.
    expect(known).toBeGreaterThan(100);
  });
});
