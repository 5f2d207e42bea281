import { chmodSync, chownSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Redactor } from '#lib/redact.ts';
import { openCredentials } from './credential-file.ts';

let home: string;
let said: string[];
let redactor: Redactor;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'agentiso-credentials-'));
  said = [];
  redactor = new Redactor();
});
afterEach(() => rmSync(home, { recursive: true }));

function open(variables: Record<string, string> = {}, uid?: number) {
  const log = pino({ level: 'info' }, { write: (line: string) => said.push(line) });
  return openCredentials({ home, environment: (name) => variables[name], redactor, log, ...(uid !== undefined && { uid }) });
}

/** As an editor does it: a new file in its place. */
function write(key: string, mode = 0o600): void {
  writeFileSync(join(home, 'new'), `providers: { anthropic: { apiKey: ${key} } }\n`, { mode });
  chmodSync(join(home, 'new'), mode);
  renameSync(join(home, 'new'), join(home, 'credentials.yaml'));
}

it('has what the file says, and what it says later, and nothing when it is gone', () => {
  const credentials = open();
  expect(credentials.provider('anthropic')).toBeUndefined();
  write('first-invented-key');
  expect(credentials.provider('anthropic')?.apiKey).toBe('first-invented-key');
  write('second-invented-key');
  expect(credentials.provider('anthropic')?.apiKey).toBe('second-invented-key');
  expect(redactor.redact('first-invented-key second-invented-key')).toBe('[redacted] [redacted]');
  rmSync(join(home, 'credentials.yaml'));
  expect(credentials.provider('anthropic')).toBeUndefined();
  expect(said).toEqual([]);
});

it('asks the file first and then the environment', () => {
  const credentials = open({ ANTHROPIC_API_KEY: 'key-of-environment', OPENAI_API_KEY: 'other-of-environment' });
  expect(credentials.provider('anthropic')?.apiKey).toBe('key-of-environment');
  write('key-of-the-file');
  expect(credentials.provider('anthropic')?.apiKey).toBe('key-of-the-file');
  expect(credentials.names()).toEqual(['anthropic', 'openai']);
  expect(redactor.redact('other-of-environment')).toBe('[redacted]');
});

it.each([0o640, 0o604, 0o660, 0o644])('refuses a file of mode %o until it is 0600, and says so once', (mode) => {
  write('an-invented-key', mode);
  const credentials = open();
  expect(credentials.provider('anthropic')).toBeUndefined();
  expect(credentials.problem()).toContain(`its mode is 0${mode.toString(8)}`);
  expect(said).toHaveLength(1);
  expect(said[0]).toMatch(/"level":50.*chmod 600/);
  chmodSync(join(home, 'credentials.yaml'), 0o600);
  expect(credentials.provider('anthropic')?.apiKey).toBe('an-invented-key');
  expect(credentials.problem()).toBeUndefined();
});

it('refuses a file of somebody else', () => {
  write('an-invented-key');
  const credentials = open({}, (process.getuid?.() ?? 0) + 1);
  expect(credentials.provider('anthropic')).toBeUndefined();
  expect(credentials.problem()).toMatch(/it belongs to user \d+, and agentiso runs as/);
});

it.runIf(process.getuid?.() === 0)('refuses a link to a file of somebody else', () => {
  const foreign = join(home, 'foreign.yaml');
  writeFileSync(foreign, 'providers: {}\n', { mode: 0o600 });
  chownSync(foreign, 12_345, 12_345);
  symlinkSync(foreign, join(home, 'credentials.yaml'));
  expect(open().problem()).toMatch(/it belongs to user 12345/);
});

it('keeps nothing of a file that is no longer readable as one, and never repeats it', () => {
  write('an-invented-key');
  const credentials = open();
  writeFileSync(join(home, 'credentials.yaml'), 'providers: { anthropic: { apiKey: "another-key }');
  expect(credentials.provider('anthropic')).toBeUndefined();
  expect(credentials.problem()).toMatch(/line 1 is no YAML/);
  expect(said.join('')).not.toContain('another-key');
});
