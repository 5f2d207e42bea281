/** The verifier with real sandboxes: what it must do with any driver, here with one that keeps workspaces apart. */
import { describeVerifier } from '../../src/daemon/verify/verifier.fixture.ts';
import { withSandboxes } from '../support/agents-home.ts';

withSandboxes('verification in a sandbox', () => describeVerifier('sandbox'));
