/**
 * The body of /version. Clients warn when their minor version is more than one away from the server's, so we report the middle one of
 * those we are tested with: 1.34, 1.35 and 1.36.
 */

/** Written in by the build. */
declare const AGENTISO_VERSION: string | undefined;

const MINOR = 35;
const VERSION = typeof AGENTISO_VERSION === 'string' ? AGENTISO_VERSION : 'source';

export const GIT_VERSION = `v1.${MINOR}.0+agentiso.${VERSION}`;

export function versionInfo() {
  return {
    major: '1',
    minor: String(MINOR),
    gitVersion: GIT_VERSION,
    // Clients insist on the words; the build records neither a commit nor a date, so that equal sources give equal files.
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: `node-${process.version}`,
    compiler: 'v8',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
