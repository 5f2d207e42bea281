/**
 * Which names an agent may ask the proxy for. Pure. `allowDomains` opens the ports of HTTP and HTTPS, 80 and 443, and no others;
 * `allowInternet` opens every port of every public address.
 */
import { isIP, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { InvalidError } from '#lib/errors.ts';
import { Refusal } from './refusal.ts';

export interface EgressRules {
  /** Exact names, or `*.suffix` for everything below one, but not for the suffix itself. */
  readonly allowDomains: readonly string[];
  readonly allowInternet: boolean;
}

export interface NameRules {
  readonly exact: ReadonlySet<string>;
  /** With their leading dot. */
  readonly suffixes: readonly string[];
  readonly allowInternet: boolean;
}

export interface Target {
  /** In the one form in which names are compared: ASCII, lower case, no trailing dot; or an address. */
  readonly host: string;
  readonly port: number;
}

const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^\s%/\\@?#:[\]]+)(?::(\d{1,5}))?$/i;
const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

export function compileRules({ allowDomains, allowInternet }: EgressRules): NameRules {
  const exact = new Set<string>();
  const suffixes: string[] = [];
  for (const domain of allowDomains) {
    const isSuffix = domain.startsWith('*.');
    const name = canonicalName(isSuffix ? domain.slice(2) : domain);
    if (name === undefined || isIP(name)) {
      throw new InvalidError(`allowDomains: '${domain}' is no name; write registry.npmjs.org, or *.example.com for everything below one`);
    }
    if (isSuffix) suffixes.push(`.${name}`);
    else exact.add(name);
  }
  return { exact, suffixes, allowInternet };
}

/** `name:port`, `[address]:port`; without a port only where there is a default. Undefined when it is nothing of the kind. */
export function parseAuthority(text: string, defaultPort?: number): Target | undefined {
  const [, host = '', digits] = AUTHORITY.exec(text) ?? [];
  const port = digits === undefined ? defaultPort : Number(digits);
  if (host === '' || port === undefined || port < 1 || port > 65_535) return undefined;
  if (host.startsWith('[')) return isIPv6(host.slice(1, -1)) ? { host: host.slice(1, -1).toLowerCase(), port } : undefined;
  const name = canonicalName(host);
  return name === undefined ? undefined : { host: name, port };
}

/** Numbers that the resolver would take for an address, such as 0x7f.1, become that address. */
function canonicalName(text: string): string | undefined {
  const ascii = domainToASCII(text.endsWith('.') ? text.slice(0, -1) : text);
  return NAME.test(ascii) ? ascii : undefined;
}

/** Why the target is refused; undefined when its name is allowed. Its addresses are still to be looked at. */
export function refuseTarget({ host, port }: Target, rules: NameRules): Refusal | undefined {
  if (rules.allowInternet) return undefined;
  if (isIP(host)) return new Refusal(403, 'AddressNotAllowed', `${host}: agents of this team reach names, not addresses`);
  if (!isNameAllowed(host, rules)) return new Refusal(403, 'NameNotAllowed', `${host} is not in allowDomains of the team`);
  if (!WEB_PORTS.has(port)) return new Refusal(403, 'PortNotAllowed', `${host}:${port}: allowDomains opens the ports 80 and 443 only`);
  return undefined;
}

function isNameAllowed(host: string, { exact, suffixes }: NameRules): boolean {
  return exact.has(host) || suffixes.some((suffix) => host.length > suffix.length && host.endsWith(suffix));
}
