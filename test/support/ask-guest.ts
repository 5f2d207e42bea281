/** The real guest agent, asked as the stand-in is. */
import type { Duplex } from 'node:stream';
import type { GuestPort } from '#drivers/driver.ts';
import { connectGuest } from '#guest/client.ts';
import { greet } from '#guest/handshake.ts';
import { Channel } from '#protocol/channel.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { relayToGuest } from '#protocol/relay.ts';
import type { StandInAnswer } from './guest-stand-in.ts';

interface Asked {
  readonly port: GuestPort;
  readonly id: string;
  readonly incarnation: string;
}

/** Asks once and hangs up. `{}`: who it is; it would not greet anybody who takes it for another. */
export async function askGuest(stream: Duplex, { port, ...identity }: Asked, request: { command?: string }): Promise<StandInAnswer> {
  if (port === 'relay') {
    const relay = new Channel(stream, { outgoing: relayToGuest });
    await greet(relay, identity);
    relay.close(new ProtocolError('Unavailable', 'asked'));
    return { port, ...identity };
  }
  const client = await connectGuest(stream, identity);
  try {
    const { command } = request;
    if (command === undefined) return { port, ...identity };
    // A machine that is killed loses what it has not written to its disk, as any machine does.
    const { exitCode, stdout, stderr } = await client.call('exec', { command: `${command}\nsync`, timeoutMs: 60_000 });
    return { port, exitCode, stdout, stderr };
  } finally {
    client.close('asked');
  }
}
