/** The verifier with plain processes: real workspaces, guests and git, and no rights needed. */
import { describeVerifier } from '../../src/daemon/verify/verifier.fixture.ts';

describeVerifier('process');
