import { describe, expect, it } from 'vitest';
import { parseArguments } from './arguments.ts';
import { type Command, EXIT } from './command.ts';

const command: Command = {
  name: 'show',
  args: '<type> [names...]',
  summary: 'for this test',
  options: [
    { flags: '-o, --output <format>', description: '' },
    { flags: '-l, --label <pair>', description: '', isRepeatable: true },
    { flags: '-A, --all-namespaces', description: '' },
    { flags: '-w, --watch', description: '' },
    { flags: '--no-headers', description: '' },
    { flags: '--level <level>', description: '', choices: ['low', 'high'], default: 'low' },
    { flags: '--dry-run [mode]', description: '' },
  ],
  run: async () => EXIT.ok,
};
const ALWAYS = { headers: true, level: 'low' };

describe('arguments', () => {
  it.each([
    { argv: ['a', 'b', 'c'], args: ['a', 'b', 'c'], options: {} },
    { argv: ['-o', 'json', 'a'], args: ['a'], options: { output: 'json' } },
    { argv: ['a', '-ojson'], args: ['a'], options: { output: 'json' } },
    { argv: ['a', '-o=json'], args: ['a'], options: { output: 'json' } },
    { argv: ['a', '--output=a=b'], args: ['a'], options: { output: 'a=b' } },
    { argv: ['a', '-Aw'], args: ['a'], options: { allNamespaces: true, watch: true } },
    { argv: ['a', '-Ao', 'x'], args: ['a'], options: { allNamespaces: true, output: 'x' } },
    { argv: ['a', '--watch=false', '--all-namespaces=true'], args: ['a'], options: { watch: false, allNamespaces: true } },
    { argv: ['a', '--no-headers'], args: ['a'], options: { headers: false } },
    { argv: ['a', '--no-headers=false'], args: ['a'], options: { headers: true } },
    { argv: ['a', '-l', 'x=1', '--label=y'], args: ['a'], options: { label: ['x=1', 'y'] } },
    { argv: ['a', '--level', 'high'], args: ['a'], options: { level: 'high' } },
    { argv: ['a', '--dry-run', 'b'], args: ['a', 'b'], options: { dryRun: true } },
    { argv: ['a', '--dry-run=server'], args: ['a'], options: { dryRun: 'server' } },
    { argv: ['a', '-'], args: ['a', '-'], options: {} },
    { argv: ['a', '--', '-o', '--help'], args: ['a', '-o', '--help'], options: {} },
  ])('$argv', ({ argv, args, options }) => {
    expect(parseArguments(command, argv)).toEqual({ args, options: { ...ALWAYS, ...options }, isHelp: false });
  });

  it.each([['-h'], ['--help']])('%s asks for help, whatever else is missing', (word) => {
    expect(parseArguments(command, [word]).isHelp).toBe(true);
  });

  it.each([
    { argv: [], want: "missing required argument 'type'" },
    { argv: ['a', '--outptu', 'x'], want: "unknown option '--outptu'; did you mean --output?" },
    { argv: ['a', '-x'], want: "unknown option '-x'" },
    { argv: ['a', '-Ax'], want: "unknown option '-x' in '-Ax'" },
    { argv: ['a', '-o'], want: "option '-o, --output <format>' argument missing" },
    { argv: ['a', '--level', 'mid'], want: "argument 'mid' is invalid. Allowed choices are low, high." },
    { argv: ['a', '--watch=maybe'], want: 'Allowed choices are true, false.' },
  ])('$argv is a mistake', ({ argv, want }) => {
    expect(() => parseArguments(command, argv)).toThrow(want);
  });

  it('counts the words of a command that takes a fixed number', () => {
    expect(() => parseArguments({ ...command, args: '<a>' }, ['x', 'y'])).toThrow(
      "too many arguments for 'show'. Expected 1 argument but got 2.",
    );
  });
});
