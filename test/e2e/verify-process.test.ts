/** The verifier with plain processes: real workspaces, guests and git, and no rights needed. */
import { describeVerifier } from '../../src/verifier.fixture.ts';

describeVerifier('process');
