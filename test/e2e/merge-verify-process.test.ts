/** The verifier with plain processes: real workspaces, guests and git, and no rights needed. */
import { describeCommitVerifier } from '../../src/daemon/verify/commit-verifier.fixture.ts';

describeCommitVerifier('process');
