import { describe, expect, it } from 'vitest';
import { type Command, EXIT } from './command.ts';
import { helpOf } from './help.ts';

const run = async () => EXIT.ok;
const commands: readonly Command[] = [
  { name: 'get', args: '[type] [names...]', summary: 'show objects', run },
  {
    name: 'serve',
    summary: 'run the daemon',
    description: `Watches a directory ${'and watches it '.repeat(8)}until it ends.`,
    options: [
      { flags: '-f, --filename <file>', description: 'a file', isRequired: true },
      { flags: '--level <level>', description: 'how much', choices: ['low', 'high'], default: 'low' },
      { flags: '--stay', description: 'go on', default: 'auto' },
      { flags: '--home <dir>', description: `where ${'everything and more '.repeat(6)}is kept` },
    ],
    run,
  },
  { name: '__complete', summary: 'for shells', isHidden: true, run },
];

describe('helpOf', () => {
  it('lists the commands, our own first, without the hidden ones', () => {
    expect(helpOf(commands)).toBe(`Usage: agentiso <command> [options]

Runs teams of AI coding agents, each isolated, the way Kubernetes runs pods.

Commands:
  serve       run the daemon

Commands with kubectl's words:
  get         show objects

Options:
  --version   print the version
  -h, --help  show this

agentiso <command> --help tells more about a command.
`);
  });

  it('shows the options of a command with what they accept, wrapped', () => {
    expect(helpOf(commands, 'serve')).toBe(`Usage: agentiso serve [options]

Watches a directory and watches it and watches it and watches it and watches it and watches it and
watches it and watches it and watches it until it ends.

Options:
  -f, --filename <file>  a file (required)
  --level <level>        how much (low, high; default: low)
  --stay                 go on
  --home <dir>           where everything and more everything and more everything and more
                         everything and more everything and more everything and more is kept
  -h, --help             show this
`);
  });

  it('takes the summary where there is no description', () => {
    expect(helpOf(commands, 'get')).toBe(
      'Usage: agentiso get [options] [type] [names...]\n\nshow objects\n\nOptions:\n  -h, --help  show this\n',
    );
  });
});
