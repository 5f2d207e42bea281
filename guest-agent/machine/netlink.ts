/**
 * What makes the kernel give a device its place on the network, as the bytes it takes (rtnetlink): to start the program that says the same
 * would be the longest part of setting up a machine whose processor is emulated. Pure.
 */
import { Buffer } from 'node:buffer';
import type { MachineLink } from '#protocol/control.ts';

const TYPE = { link: 16, address: 20, route: 24, neighbour: 28 };
const FLAG = { request: 0x001, acknowledge: 0x004, replace: 0x100, create: 0x400 };
const INET = 2;
const UP = 1;
const HOST_BITS = 32;
const MAIN_TABLE = 254;
const BY_BOOT = 3;
const SCOPE = { everywhere: 0, link: 253 };
const UNICAST = 1;
const PERMANENT = 0x80;
/** Numbers of attributes; each kind of message has its own. */
const LINK = { address: 1 };
const ADDRESS = { address: 1, local: 2 };
const ROUTE = { destination: 1, device: 4, gateway: 5 };
const NEIGHBOUR = { destination: 1, hardware: 2 };

interface Message {
  readonly type: number;
  readonly flags: number;
  readonly body: Buffer;
}

/** Nothing is said on the network by that, as long as the device makes no address of its own. */
export function upMessages(device: number): Buffer {
  return joined([{ type: TYPE.link, flags: 0, body: linkBody(device, UP) }]);
}

/** In the order of LINK_STEPS. The gateway is given, not asked for: on this link there is nobody else, and nobody who answers. */
export function linkMessages(device: number, { address, mac, gateway, gatewayMac }: MachineLink): Buffer {
  const set = FLAG.create | FLAG.replace;
  const [own, way] = [ipv4Bytes(address), ipv4Bytes(gateway)];
  const through = attribute(ROUTE.device, u32(device));
  return joined([
    { type: TYPE.link, flags: 0, body: Buffer.concat([linkBody(device, 0), attribute(LINK.address, macBytes(mac))]) },
    {
      ...{ type: TYPE.address, flags: set },
      body: Buffer.concat([addressBody(device), attribute(ADDRESS.local, own), attribute(ADDRESS.address, own)]),
    },
    {
      ...{ type: TYPE.route, flags: set },
      body: Buffer.concat([routeBody(HOST_BITS, SCOPE.link), attribute(ROUTE.destination, way), through]),
    },
    {
      ...{ type: TYPE.neighbour, flags: set },
      body: Buffer.concat([
        neighbourBody(device),
        attribute(NEIGHBOUR.destination, way),
        attribute(NEIGHBOUR.hardware, macBytes(gatewayMac)),
      ]),
    },
    {
      ...{ type: TYPE.route, flags: set },
      body: Buffer.concat([routeBody(0, SCOPE.everywhere), attribute(ROUTE.gateway, way), through]),
    },
  ]);
}

/** What failed, by the number that the kernel's answer has. */
export const LINK_STEPS = ['hardware address', 'address', 'route to the gateway', 'gateway', 'default route'] as const;

/** Numbered from 1. Of what works only the last is answered. */
function joined(messages: readonly Message[]): Buffer {
  const whole = messages.map(({ type, flags, body }, at) => {
    const header = Buffer.alloc(16);
    header.writeUInt32LE(header.length + body.length, 0);
    header.writeUInt16LE(type, 4);
    header.writeUInt16LE(FLAG.request | flags | (at === messages.length - 1 ? FLAG.acknowledge : 0), 6);
    header.writeUInt32LE(at + 1, 8);
    return Buffer.concat([header, body]);
  });
  return Buffer.concat(whole);
}

function linkBody(device: number, flags: number): Buffer {
  return Buffer.concat([Buffer.alloc(4), u32(device), u32(flags), u32(flags)]);
}

function addressBody(device: number): Buffer {
  return Buffer.concat([Buffer.from([INET, HOST_BITS, 0, SCOPE.everywhere]), u32(device)]);
}

function routeBody(bits: number, scope: number): Buffer {
  return Buffer.from([INET, bits, 0, 0, MAIN_TABLE, BY_BOOT, scope, UNICAST, 0, 0, 0, 0]);
}

function neighbourBody(device: number): Buffer {
  return Buffer.concat([Buffer.from([INET, 0, 0, 0]), u32(device), Buffer.from([PERMANENT, 0, 0, 0])]);
}

function attribute(number: number, value: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt16LE(header.length + value.length, 0);
  header.writeUInt16LE(number, 2);
  const padding = Buffer.alloc((4 - (value.length % 4)) % 4);
  return Buffer.concat([header, value, padding]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function ipv4Bytes(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}

function macBytes(address: string): Buffer {
  return Buffer.from(address.replaceAll(':', ''), 'hex');
}
