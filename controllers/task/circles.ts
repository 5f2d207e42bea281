/** Which tasks lead into a circle of dependencies: they will never start. Pure, and linear in tasks and dependencies. */

/** `open`: task → the tasks it waits for that exist and have not succeeded. What only leads to a circle further down counts as well. */
export function leadingIntoCircles(open: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const left = new Map([...open].map(([name, names]) => [name, names.length]));
  const waiting = dependentsOf(open);
  const free = [...left].filter(([, count]) => count === 0).map(([name]) => name);
  for (let name = free.pop(); name !== undefined; name = free.pop()) {
    left.delete(name);
    for (const dependent of waiting.get(name) ?? []) {
      const count = (left.get(dependent) ?? 0) - 1;
      left.set(dependent, count);
      if (count === 0) free.push(dependent);
    }
  }
  return new Set(left.keys());
}

function dependentsOf(open: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const dependents = new Map<string, string[]>([...open.keys()].map((name) => [name, []]));
  for (const [name, names] of open) {
    for (const other of names) dependents.get(other)?.push(name);
  }
  return dependents;
}
