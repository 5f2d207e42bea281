/** ping: is the guest still answering? */
import { GENERATION, type PingResult } from '#protocol/common.ts';
import { GUEST_VERSION } from '../version.ts';

export async function ping(): Promise<PingResult> {
  return { version: GUEST_VERSION, generation: GENERATION, uptimeMs: Math.round(process.uptime() * 1000) };
}
