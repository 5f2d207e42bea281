/** What was found, for people and for programs. Pure. */
import { EXIT } from '../command.ts';
import { type Colour, coloured } from '../print/colour.ts';
import type { Result, State } from './check.ts';
import { fixText, type PackageManager } from './packages.ts';

export interface ReportOptions {
  readonly manager: PackageManager | undefined;
  readonly hasColour: boolean;
}

/** One line for each. */
export function reportLines(results: readonly Result[], { manager, hasColour }: ReportOptions): readonly string[] {
  const width = Math.max(...results.map(({ name }) => name.length));
  return results.map((result) => {
    const { name, state, detail, purpose, fix } = result;
    const word = hasColour ? coloured(state.padEnd(8), colourOf(result)) : state.padEnd(8);
    const need = state === 'ok' ? '' : `; needed for ${purpose}`;
    const advice = fix && state !== 'ok' ? `. Fix: ${fixText(fix, manager)}` : '';
    return `${word}  ${name.padEnd(width)}  ${detail}${need}${advice}`;
  });
}

export function summary(results: readonly Result[]): string {
  const failed = results.filter(isFailed).map(({ name }) => name);
  if (failed.length > 0) return `agentiso cannot run here: ${failed.join(', ')}`;
  const others = results.filter(({ state }) => state !== 'ok').map(({ name }) => name);
  return others.length === 0 ? 'everything is there' : `everything needed is there; not everything that can be used: ${others.join(', ')}`;
}

export function reportJson(results: readonly Result[], manager: PackageManager | undefined): string {
  const checks = results.map(({ name, state, isNeeded, purpose, detail, fix }) => ({
    name,
    state,
    needed: isNeeded,
    purpose,
    detail,
    ...(fix ? { fix: fixText(fix, manager) } : {}),
  }));
  return JSON.stringify({ ok: !results.some(isFailed), checks }, undefined, 2);
}

export function exitCodeOf(results: readonly Result[]): number {
  return results.some(isFailed) ? EXIT.failure : EXIT.ok;
}

function isFailed({ isNeeded, state }: Result): boolean {
  return isNeeded && (state === 'missing' || state === 'broken');
}

const COLOURS: Readonly<Record<State, Colour>> = { ok: 'green', missing: 'yellow', broken: 'yellow', unproven: 'yellow' };

function colourOf(result: Result): Colour {
  return isFailed(result) ? 'red' : COLOURS[result.state];
}
