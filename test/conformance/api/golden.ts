/** The recorded answers of the real server, one file for each scenario. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Transcript } from './exchange.ts';

export const goldenDirectory = fileURLToPath(new URL('./golden', import.meta.url));

export function readGolden(scenario: string, directory = goldenDirectory): Transcript {
  return JSON.parse(readFileSync(`${directory}/${scenario}.json`, 'utf8')) as Transcript;
}

export function writeGolden(scenario: string, transcript: Transcript, directory = goldenDirectory): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(`${directory}/${scenario}.json`, `${JSON.stringify(transcript, null, 2)}\n`);
}
