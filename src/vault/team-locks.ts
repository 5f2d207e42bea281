/** Two locks in one: a path's own, and its team's, which is held alone only while the whole team goes. */
import { Locks } from './locks.ts';
import { teamPlaceOf } from './paths.ts';

export class TeamLocks {
  readonly #locks = new Locks();

  shared<T>(path: string, work: () => Promise<T>): Promise<T> {
    return this.#locks.shared(teamLockOf(path), () => this.#locks.shared(path, work));
  }

  alone<T>(path: string, work: () => Promise<T>): Promise<T> {
    return this.#locks.shared(teamLockOf(path), () => this.#locks.alone(path, work));
  }

  aloneInTeam<T>(namespace: string, team: string, work: () => Promise<T>): Promise<T> {
    return this.#locks.alone(`team ${teamIdOf(namespace, team)}`, work);
  }
}

/** No path has this form, so that the two kinds cannot meet. */
function teamLockOf(path: string): string {
  const place = teamPlaceOf(path);
  return place ? `team ${teamIdOf(place.namespace, place.team)}` : '/';
}

export function teamIdOf(namespace: string, team: string): string {
  return `${namespace}/${team}`;
}
