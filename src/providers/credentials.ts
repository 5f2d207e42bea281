/** What a credentials file and an environment say about providers. Pure. No message here has a value in it: values are secret. */
import { isMap, LineCounter, parseDocument } from 'yaml';
import { InvalidError } from '#lib/errors.ts';
import { isLoopback, parseBaseUrl } from './base-url.ts';
import { KNOWN_PROVIDERS } from './catalogue.ts';
import type { Price, Prices } from './prices.ts';

export interface Provider {
  readonly name: string;
  readonly baseUrl: URL;
  /** In lower case. */
  readonly header: string;
  readonly prefix: string;
  /** Absent for a model on this machine that asks for none. */
  readonly apiKey?: string;
}

export interface Credentials {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly prices: Prices;
  /** Which models a provider has, where that is written down. */
  readonly models: ReadonlyMap<string, readonly string[]>;
}

export const NO_CREDENTIALS: Credentials = { providers: new Map(), prices: new Map(), models: new Map() };

const NAME = /^[a-z][a-z0-9-]{0,62}$/;
const MODEL = /^[\w.:/-]{1,128}\*?$/;
const HEADER = /^[a-z0-9-]{1,64}$/i;
/** What may stand in a header. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const FIELDS = ['apiKey', 'baseUrl', 'header', 'prefix'];

/** Throws InvalidError, naming the field. */
export function parseCredentials(text: string): Credentials {
  const root = mapOf(readYaml(text), 'the file');
  checkFields(root, ['providers', 'prices', 'models'], 'the file');
  const providers = Object.entries(mapOf(root['providers'] ?? {}, 'providers')).map(([name, given]) => toProvider(name, given));
  const prices = Object.entries(mapOf(root['prices'] ?? {}, 'prices')).map(([model, given]) => [model, toPrice(model, given)] as const);
  const models = Object.entries(mapOf(root['models'] ?? {}, 'models')).map(([name, given]) => [name, toModels(name, given)] as const);
  return {
    providers: new Map(providers.map((provider) => [provider.name, provider])),
    prices: new Map(prices),
    models: new Map(models),
  };
}

function readYaml(text: string): unknown {
  const lineCounter = new LineCounter();
  // Its own messages quote the text.
  const document = parseDocument(text, { prettyErrors: false, lineCounter, logLevel: 'silent' });
  const [problem] = document.errors;
  if (problem) throw new InvalidError(`line ${lineCounter.linePos(problem.pos[0]).line} is no YAML (${problem.code})`);
  if (document.contents === null) return {};
  if (!isMap(document.contents)) throw new InvalidError('the file is no map; it begins with providers:');
  return document.toJS({ maxAliasCount: 0 });
}

function toProvider(name: string, given: unknown): Provider {
  if (!NAME.test(name)) throw new InvalidError('the name of a provider is made of small letters, digits and -, and begins with a letter');
  const at = `providers.${name}`;
  const fields = mapOf(given, at);
  checkFields(fields, FIELDS, at);
  const base = textOf(fields, 'baseUrl', at) ?? KNOWN_PROVIDERS[name]?.baseUrl;
  if (base === undefined) throw new InvalidError(`${at}.baseUrl is missing`);
  const baseUrl = inField(`${at}.baseUrl`, () => parseBaseUrl(base));
  const apiKey = textOf(fields, 'apiKey', at);
  if (apiKey === undefined && !isLoopback(baseUrl)) throw new InvalidError(`${at}.apiKey is missing`);
  const { header, prefix } = headerOf(name, fields, at);
  if (apiKey !== undefined) checkValue(`${prefix}${apiKey}`, `${at}.apiKey`);
  return { name, baseUrl, header, prefix, ...(apiKey !== undefined && { apiKey }) };
}

/** A header of one's own comes without the prefix of another. */
function headerOf(name: string, fields: Record<string, unknown>, at: string): Pick<Provider, 'header' | 'prefix'> {
  const own = textOf(fields, 'header', at);
  const usual = KNOWN_PROVIDERS[name] ?? { header: 'authorization', prefix: 'Bearer ' };
  const header = own ?? usual.header;
  if (!HEADER.test(header)) throw new InvalidError(`${at}.header is not the name of a header`);
  return { header: header.toLowerCase(), prefix: textOf(fields, 'prefix', at) ?? (own === undefined ? usual.prefix : '') };
}

function checkValue(value: string, at: string): void {
  if (!VALUE.test(value)) throw new InvalidError(`${at} has a character that no header may have`);
}

function toModels(provider: string, given: unknown): readonly string[] {
  const at = `models.${NAME.test(provider) ? provider : '?'}`;
  if (!Array.isArray(given) || given.length === 0 || !given.every((name) => typeof name === 'string' && MODEL.test(name))) {
    throw new InvalidError(`${at} is not a list of names of models; * may end one`);
  }
  return given;
}

const AMOUNT = /^\d{1,6}(?:\.\d{1,9})?$/;

function toPrice(model: string, given: unknown): Price {
  const at = `prices.${MODEL.test(model) ? model : '?'}`;
  const fields = mapOf(given, at);
  checkFields(fields, ['input', 'output', 'cacheRead', 'cacheWrite'], at);
  const amount = (name: string): number | undefined => {
    const value = fields[name] ?? undefined;
    if (value === undefined) return undefined;
    if (!AMOUNT.test(String(value))) throw new InvalidError(`${at}.${name} is not an amount of US dollars for a million tokens`);
    return Number(value);
  };
  const required = (name: string): number => {
    const value = amount(name);
    if (value === undefined) throw new InvalidError(`${at}.${name} is missing`);
    return value;
  };
  const [cacheRead, cacheWrite] = [amount('cacheRead'), amount('cacheWrite')];
  return {
    input: required('input'),
    output: required('output'),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  };
}

/** `get` is the daemon's environment. A base URL that is set there counts: a key must not go to a host it was not meant for. */
export function credentialsOfEnvironment(get: (name: string) => string | undefined): Credentials {
  const providers = Object.entries(KNOWN_PROVIDERS).flatMap(([name, known]) => {
    const apiKey = known.keyVariables.map((variable) => get(variable)?.trim()).find((value) => value !== undefined && value !== '');
    if (apiKey === undefined) return [];
    const base = get(known.baseUrlVariable)?.trim() || known.baseUrl;
    const baseUrl = inField(known.baseUrlVariable, () => parseBaseUrl(base));
    checkValue(apiKey, known.keyVariables.join(' or '));
    return [{ name, baseUrl, header: known.header, prefix: known.prefix, apiKey }];
  });
  return { ...NO_CREDENTIALS, providers: new Map(providers.map((provider) => [provider.name, provider])) };
}

function mapOf(value: unknown, at: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new InvalidError(`${at} is no map`);
  return value as Record<string, unknown>;
}

function checkFields(fields: Record<string, unknown>, allowed: readonly string[], at: string): void {
  // What is written in the wrong place may be a key: it is not repeated.
  if (Object.keys(fields).some((name) => !allowed.includes(name))) {
    throw new InvalidError(`${at} has a field that is not one of ${allowed.join(', ')}`);
  }
}

function textOf(fields: Record<string, unknown>, name: string, at: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || (value === '' && name !== 'prefix')) throw new InvalidError(`${at}.${name} is not a text`);
  return value;
}

function inField<T>(at: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof InvalidError) throw new InvalidError(`${at}: ${error.message}`);
    throw error;
  }
}
