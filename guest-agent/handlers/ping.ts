/** ping: is the guest still answering? */
import { GENERATION, type Handler } from '#protocol/messages.ts';
import { GUEST_VERSION } from '../version.ts';

export function pingHandler(): Handler<'ping'> {
  return async () => ({ version: GUEST_VERSION, generation: GENERATION, uptimeMs: Math.round(process.uptime() * 1000) });
}
