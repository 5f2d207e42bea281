/** All scenarios, in the order they run. */
import type { Scenario } from '../scenario.ts';
import { acceptScenarios } from './accept.ts';
import { applyScenarios } from './apply.ts';
import { coreScenarios } from './core.ts';
import { createScenarios } from './create.ts';
import { deleteScenarios } from './delete.ts';
import { discoveryScenarios } from './discovery.ts';
import { documentScenarios } from './documents.ts';
import { limitScenarios } from './limits.ts';
import { listScenarios } from './list.ts';
import { trackingScenarios } from './tracking.ts';
import { upstreamScenarios } from './upstream.ts';
import { upstreamCoreScenarios } from './upstream-core.ts';
import { validationScenarios } from './validation.ts';
import { watchScenarios } from './watch.ts';
import { writeScenarios } from './write.ts';

export const scenarios: readonly Scenario[] = [
  ...createScenarios,
  ...validationScenarios,
  ...writeScenarios,
  ...applyScenarios,
  ...trackingScenarios,
  ...deleteScenarios,
  ...listScenarios,
  ...acceptScenarios,
  ...watchScenarios,
  ...limitScenarios,
  ...discoveryScenarios,
  ...documentScenarios,
  ...coreScenarios,
  ...upstreamScenarios,
  ...upstreamCoreScenarios,
];
