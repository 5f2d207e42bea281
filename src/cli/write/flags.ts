/** Options that several writing commands share, and what their values mean. */

import type { DryRun, FieldValidation } from '#client/write/requests.ts';
import type { Option, OptionValues } from '../command.ts';
import { UsageError } from '../usage-error.ts';

export const FILENAME_OPTIONS: readonly Option[] = [
  { flags: '-f, --filename <file>', description: 'file, folder or - for standard input; may be given several times', isRepeatable: true },
  { flags: '-R, --recursive', description: 'look into the folders of a folder too' },
];

export const DRY_RUN_OPTION: Option = {
  flags: '--dry-run [how]',
  description: 'client: only say what would be sent; server: let the server check it; nothing is stored (alone: client)',
  choices: ['none', 'client', 'server'],
};

export const OUTPUT_OPTIONS: readonly Option[] = [
  { flags: '-o, --output <format>', description: 'print the objects instead: name, yaml, json, jsonpath=..., custom-columns=...' },
  { flags: '--show-managed-fields', description: 'keep metadata.managedFields in what is printed' },
];

export const SELECTOR_OPTION: Option = { flags: '-l, --selector <selector>', description: 'labels to select by: a=b,c!=d,e in (f,g)' };

export const VALIDATE_OPTION: Option = {
  flags: '--validate [how]',
  description: 'strict (default): unknown fields are errors; warn: say so and go on; ignore',
  choices: ['strict', 'warn', 'ignore', 'true', 'false'],
};

export function fieldManagerOption(manager: string): Option {
  return { flags: '--field-manager <name>', description: 'who is noted as the owner of the fields', default: manager };
}

export function dryRunOf(options: OptionValues): DryRun {
  const value = options['dryRun'];
  if (value === undefined) return 'none';
  return typeof value === 'string' ? (value as DryRun) : 'client';
}

export function fieldValidationOf(options: OptionValues): FieldValidation {
  const value = options['validate'];
  if (value === 'warn') return 'Warn';
  return value === 'ignore' || value === 'false' ? 'Ignore' : 'Strict';
}

export function filenamesOf(options: OptionValues): readonly string[] {
  return (options['filename'] as readonly string[] | undefined) ?? [];
}

export function requireFilenames(options: OptionValues): readonly string[] {
  const filenames = filenamesOf(options);
  if (filenames.length === 0) throw new UsageError('must specify one of -f and --filename');
  return filenames;
}

const UNIT_MS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `30s`, `1m30s`, `-1s`; a bare number is seconds. */
export function durationMs(text: string, flag: string): number {
  const match = /^([+-]?)((?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+|\d+(?:\.\d+)?)$/.exec(text);
  if (!match?.[2]) throw new UsageError(`invalid argument "${text}" for "${flag}" flag: expected a duration such as 30s, 5m or 1h30m`);
  const parts = [...match[2].matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)?/g)];
  const totalMs = parts.reduce((sum, [, count, unit = 's']) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0);
  return match[1] === '-' ? -totalMs : totalMs;
}
