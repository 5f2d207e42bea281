/**
 * Where this home was before it was moved. The names of its control groups and network namespaces are made of its path: what a daemon that
 * was killed had left is by other names now, and only the home itself knows them.
 */
import { lstatSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from '#lib/log.ts';
import { errnoOf } from '#lib/process-identity.ts';

const PLACES_FILE = 'places.json';
const MOST = 16;

/** As below. A daemon that cannot find them out has none to clean up after, and starts all the same. */
export function formerHomes(home: string, log: Logger): string[] {
  try {
    return noteHome(home);
  } catch (error) {
    log.warn({ err: error }, 'where this home was before cannot be found out or written down');
    return [];
  }
}

/** Writes down where it is now. Gives the places where nothing is any more: one where something is may be another home's. */
function noteHome(home: string): string[] {
  const file = join(home, 'state', PLACES_FILE);
  const known = readPlaces(file);
  const now = [...new Set([resolve(home), realpathSync(home)])];
  const all = [...known.filter((place) => !now.includes(place)), ...now].slice(-MOST);
  if (all.join('\n') !== known.join('\n')) writeFileSync(file, `${JSON.stringify(all)}\n`, { mode: 0o600 });
  return all.filter((place) => !now.includes(place) && isGone(place));
}

/** One that is damaged says nothing, and is written anew. */
function readPlaces(file: string): string[] {
  try {
    const places: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(places) ? places.filter((place) => typeof place === 'string' && place.startsWith('/')) : [];
  } catch (error) {
    if (error instanceof SyntaxError || errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function isGone(place: string): boolean {
  try {
    lstatSync(place);
    return false;
  } catch (error) {
    return errnoOf(error) === 'ENOENT';
  }
}
