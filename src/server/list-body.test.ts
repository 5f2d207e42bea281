import { describe, expect, it } from 'vitest';
import { listBody } from './list-body.ts';

const HEAD = '{"kind":"Liste","items":[';

describe('listBody', () => {
  it.each([
    ['none', []],
    ['one', [{ name: 'a' }]],
    ['a few', [{ name: 'a' }, { name: 'é€😀' }]],
    ['one long item', [{ text: 'é'.repeat(70_000) }]],
    ['many', Array.from({ length: 5_000 }, (_, index) => ({ name: `item-${index}`, text: ['plain', 'é€😀', '\ud800'][index % 3] }))],
  ])('%s: is the text of the list', (_, items) => {
    const texts = items.map((item) => JSON.stringify(item));
    const body = listBody(HEAD, texts, ']}');
    expect(body.toString()).toBe(`${HEAD}${texts.join(',')}]}`);
    expect(JSON.parse(body.toString())).toEqual({ kind: 'Liste', items });
  });

  it('gives a long list as bytes, which need not be copied again', () => {
    expect(Buffer.isBuffer(listBody(HEAD, [JSON.stringify('x'.repeat(100_000))], ']}'))).toBe(true);
    expect(listBody(HEAD, ['1', '2'], ']}')).toBe(`${HEAD}1,2]}`);
  });
});
