/** The Node.js that runs us. */
import { broken, type Check, type Finding, ok } from './check.ts';

export const nodeCheck: Check = {
  name: 'node',
  isNeeded: true,
  purpose: 'agentiso itself',
  look: async () => judgeNode(process.versions.node),
};

const LEAST: readonly [major: number, minor: number] = [20, 19];

export function judgeNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1]);
  return isEnough ? ok(version) : broken(`${version}; ${LEAST.join('.')} or newer is needed`, { install: 'nodejs' });
}
