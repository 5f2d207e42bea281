/** Dependencies as a graph of names: where they go in a circle, and an order in which each comes after what it needs. Pure. */

/** What a task waits for, by names that it can be asked for in turn; nothing for one that does not exist. */
export type DependenciesOf = (task: string) => readonly string[];

/**
 * Circles that can be reached from these tasks, each as the way round: `[a, b, a]`. Follows every dependency once, so that it costs what can
 * be reached and no more. Several circles that share tasks may be told as one: when that is mended the next is found.
 */
export function circlesFrom(tasks: Iterable<string>, dependenciesOf: DependenciesOf): string[][] {
  const finished = new Set<string>();
  const found: string[][] = [];
  for (const task of tasks) if (!finished.has(task)) found.push(...circlesOnWayFrom(task, dependenciesOf, finished));
  return found;
}

interface Step {
  readonly task: string;
  readonly dependencies: readonly string[];
  next: number;
}

/** By hand and not by calling itself: a chain of ten thousand tasks is deeper than the stack. */
function circlesOnWayFrom(start: string, dependenciesOf: DependenciesOf, finished: Set<string>): string[][] {
  const found: string[][] = [];
  const way: Step[] = [];
  const places = new Map<string, number>();
  const enter = (task: string) => {
    places.set(task, way.length);
    way.push({ task, dependencies: dependenciesOf(task), next: 0 });
  };
  enter(start);
  for (let step = way.at(-1); step; step = way.at(-1)) {
    const dependency = step.dependencies[step.next++];
    if (dependency === undefined) {
      way.pop();
      places.delete(step.task);
      finished.add(step.task);
      continue;
    }
    const place = places.get(dependency);
    if (place !== undefined) found.push([...way.slice(place).map(({ task }) => task), dependency]);
    else if (!finished.has(dependency)) enter(dependency);
  }
  return found;
}

/** The way from a task back to itself; undefined when there is none. */
export function circleThrough(task: string, dependenciesOf: DependenciesOf): string[] | undefined {
  return circlesFrom([task], dependenciesOf).find(([first]) => first === task);
}

/** `a -> b -> a` */
export function circleMessage(dependency: string, circle: readonly string[]): string {
  return `Invalid value: ${JSON.stringify(dependency)}: tasks that wait for each other never start: ${circle.join(' -> ')}; remove one of these dependencies (DependencyCycle)`;
}

/** Every one after those it needs, as far as that can be; otherwise as they stand. */
export function inOrderOfNeed<T>(items: readonly T[], needsOf: (item: T) => readonly T[]): T[] {
  const ordered = new Set<T>();
  for (const item of items) {
    const way = [{ item, needs: needsOf(item), next: 0 }];
    const entered = new Set([item]);
    for (let step = way.at(-1); step; step = way.at(-1)) {
      const need = step.needs[step.next++];
      if (need === undefined) {
        ordered.add(step.item);
        way.pop();
      } else if (!ordered.has(need) && !entered.has(need)) {
        entered.add(need);
        way.push({ item: need, needs: needsOf(need), next: 0 });
      }
    }
  }
  return [...ordered];
}
