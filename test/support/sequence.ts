/** In which order files of tests run: those with virtual machines take longest, so they begin early, and not all at once. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const EVERY = 8;

export class Sequence extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const machines = sorted.filter(hasMachines);
    return sorted
      .filter((file) => !hasMachines(file))
      .flatMap((file, index) => [...(index % EVERY === 0 ? machines.splice(0, 1) : []), file])
      .concat(machines);
  }
}

function hasMachines({ moduleId }: TestSpecification): boolean {
  return /\/(vm|image)[^/]*\.test\.ts$/.test(moduleId);
}
