/** The settings of a running daemon. Whoever was given limits or rates reads them anew each time, so that a change counts at once. */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import type { Limits } from '#api/limits.ts';
import type { ConfiguredLimits } from '#config';
import { InvalidError, messageOf } from '#lib/errors.ts';
import { errnoOf } from '#lib/process-identity.ts';
import { TOOL_CATEGORIES } from '#protocol/tool-surface.ts';
import type { Rates } from '#relay/rates.ts';
import { limitsOf, ratesOf } from './limits.ts';
import { LARGEST_LIMITS, parseSettings } from './settings-file.ts';

export const SETTINGS_FILE = 'config.yaml';

export class Settings {
  readonly #path: string;
  /** Of whoever started the daemon: stronger than the file. */
  readonly #given: ConfiguredLimits;
  #limits: Limits;
  #rates: Rates;
  readonly #listeners = new Set<() => void>();

  /** Throws InvalidError for a file that is wrong. */
  constructor(home: string, given: ConfiguredLimits = {}) {
    this.#path = join(home, SETTINGS_FILE);
    this.#given = given;
    [this.#limits, this.#rates] = this.#read();
  }

  readonly limits: Limits = live<Limits>(() => this.#limits, Object.keys(LARGEST_LIMITS) as (keyof Limits)[]);
  readonly rates: Rates = live<Rates>(() => this.#rates, TOOL_CATEGORIES);

  /** Throws InvalidError for a file that is wrong; then all stays as it was. */
  reload(): void {
    [this.#limits, this.#rates] = this.#read();
    for (const listener of this.#listeners) listener();
  }

  /** Whoever waits for other settings, and looks at them again now. Gives what ends it. */
  onReload(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #read(): [Limits, Rates] {
    const { rates, ...limits } = this.#parsed();
    const configured = { ...limits, ...this.#given, rates: { ...rates, ...this.#given.rates } };
    return [limitsOf(configured, totalmem()), ratesOf(configured)];
  }

  #parsed(): ConfiguredLimits {
    try {
      return parseSettings(readFileSync(this.#path, 'utf8'));
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return {};
      throw new InvalidError(`${this.#path}: ${messageOf(error)}`);
    }
  }
}

function live<T extends object>(read: () => T, keys: readonly (keyof T & string)[]): T {
  const members = keys.map((key) => [key, { enumerable: true, get: () => read()[key] }] as const);
  return Object.defineProperties({}, Object.fromEntries(members)) as T;
}
