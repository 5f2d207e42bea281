/** The verifier with real sandboxes: what it must do with any driver, here with one that keeps workspaces apart. */
import { describeCommitVerifier } from '../../src/daemon/verify/commit-verifier.fixture.ts';
import { withSandboxes } from '../support/agents-home.ts';

withSandboxes('verification in a sandbox', () => describeCommitVerifier('sandbox'));
