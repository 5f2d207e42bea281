import { describe, expect, it } from 'vitest';
import { Screen } from './screen.ts';
import { MemoryTerminal } from './terminal.fixture.ts';

function setUp(columns = 20, rows = 10) {
  const terminal = new MemoryTerminal({ columns, rows });
  return { terminal, screen: new Screen({ write: terminal.write, size: terminal.size }) };
}

describe('Screen', () => {
  it('draws over what it drew, and leaves no rest of longer lines or more of them', () => {
    const { terminal, screen } = setUp();
    terminal.write('before\n');
    screen.draw(['a long line', 'b', 'c']);
    screen.draw(['short', 'b2']);
    expect(terminal.shown).toBe('before\nshort\nb2');
  });

  it('puts what comes between above, and what comes after below', () => {
    const { terminal, screen } = setUp();
    screen.draw(['one', 'two']);
    screen.clear();
    terminal.write('told\n');
    screen.draw(['one', 'two']);
    terminal.write('^C');
    screen.keep();
    terminal.write('after\n');
    expect(terminal.shown).toBe('told\none\ntwo\nafter');
  });

  it('finds its top again after the terminal became narrower and wrapped it', () => {
    const narrow = new MemoryTerminal({ columns: 10, rows: 10 });
    narrow.write(`before\r\n${'x'.repeat(15)}\r\ny\r\n`);
    const sized = { columns: 20, rows: 10 };
    const moved = new Screen({ write: (text) => (sized.columns === 10 ? narrow.write(text) : undefined), size: () => sized });
    moved.draw(['x'.repeat(15), 'y']);
    sized.columns = 10;
    moved.draw(['xxxx…', 'y']);
    expect(narrow.shown).toBe('before\nxxxx…\ny');
  });

  it('never goes higher than the screen is', () => {
    const { terminal, screen } = setUp(20, 3);
    terminal.write('1\n2\n3\n4\n5\n');
    screen.draw(['a', 'b']);
    screen.draw(['c', 'd']);
    expect(terminal.shown).toBe('1\n2\n3\n4\n5\nc\nd');
  });

  it('counts colours as nothing', () => {
    const { terminal, screen } = setUp(8);
    terminal.write('before\n');
    screen.draw(['\u001b[32mgreen\u001b[0m']);
    screen.draw(['\u001b[31mred\u001b[0m']);
    expect(terminal.shown).toBe('before\nred');
  });
});
