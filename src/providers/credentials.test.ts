import { describe, expect, it } from 'vitest';
import { credentialsOfEnvironment, parseCredentials } from './credentials.ts';

const KEY = 'sk-invented-0123456789';
const named = (text: string, name: string) => {
  const { baseUrl, ...rest } = parseCredentials(text).providers.get(name) ?? {};
  return { ...rest, baseUrl: baseUrl?.href };
};

describe('a credentials file', () => {
  it('needs only a key for a provider that is known', () => {
    const text = `providers: { anthropic: { apiKey: ${KEY} }, openai: { apiKey: ${KEY} }, gemini: { apiKey: ${KEY} } }`;
    expect(named(text, 'anthropic')).toMatchObject({ header: 'x-api-key', prefix: '', apiKey: KEY, baseUrl: 'https://api.anthropic.com/' });
    expect(named(text, 'openai')).toMatchObject({ header: 'authorization', prefix: 'Bearer ', baseUrl: 'https://api.openai.com/v1' });
    expect(named(text, 'gemini')).toMatchObject({
      header: 'x-goog-api-key',
      prefix: '',
      baseUrl: 'https://generativelanguage.googleapis.com/',
    });
  });

  it('may say for any other where it is and how it takes its key', () => {
    const text = `providers:\n  mine: { apiKey: ${KEY}, baseUrl: https://m.test/x, header: X-Mine }\n  here: { baseUrl: "http://127.0.0.1:9" }`;
    expect(named(text, 'mine')).toEqual({ name: 'mine', header: 'x-mine', prefix: '', apiKey: KEY, baseUrl: 'https://m.test/x' });
    expect(named(text, 'here')).toEqual({ name: 'here', header: 'authorization', prefix: 'Bearer ', baseUrl: 'http://127.0.0.1:9/' });
  });

  it('may be empty', () => {
    expect(parseCredentials('').providers.size).toBe(0);
    expect(parseCredentials('# nothing yet\nproviders: {}\n').providers.size).toBe(0);
    expect(parseCredentials('models: { openai: [gpt-x, "org/m-*"] }').models.get('openai')).toEqual(['gpt-x', 'org/m-*']);
  });

  it.each([
    ['providers: { mine: { apiKey: KEY } }', /providers\.mine\.baseUrl is missing/],
    ['providers: { anthropic: { baseUrl: "https://a.test" } }', /providers\.anthropic\.apiKey is missing/],
    ['providers: { anthropic: { apiKey: KEY, baseUrl: "http://a.test" } }', /providers\.anthropic\.baseUrl: baseUrl must begin with https/],
    ['providers: { anthropic: { apikey: KEY } }', /has a field that is not one of apiKey/],
    ['providers: { A_KEY: { apiKey: x } }', /the name of a provider/],
    ['providers: { anthropic: KEY }', /providers\.anthropic is no map/],
    ['providers: { anthropic: { apiKey: [KEY] } }', /apiKey is not a text/],
    ['providers: { anthropic: { apiKey: "KEY\\r\\nX-Evil: 1" } }', /character that no header may have/],
    ['providers: { anthropic: { apiKey: KEY, header: "a b" } }', /is not the name of a header/],
    ['models: { openai: KEY }', /models\.openai is not a list of names of models/],
    ['models: { openai: [] }', /models\.openai is not a list/],
    ['models: [KEY]', /models is no map/],
    ['anthropic: KEY', /the file has a field/],
    ['KEY', /the file is no map/],
    ['providers: { anthropic: { apiKey: "KEY }', /line \d+ is no YAML/],
    ['providers:\n\tanthropic: KEY', /line 2 is no YAML/],
    ['providers: { anthropic: { apiKey: KEY, apiKey: KEY } }', /is no YAML/],
  ])('is refused without a word of what is in it: %s', (text, message) => {
    const broken = text.replaceAll('KEY', KEY);
    expect(() => parseCredentials(broken)).toThrow(message);
    expect(() => parseCredentials(broken)).not.toThrow(KEY);
  });
});

describe('an environment', () => {
  const from = (variables: Record<string, string>) => [...credentialsOfEnvironment((name) => variables[name]).providers.values()];

  it('gives the providers whose keys are set, at the host they are meant for', () => {
    const found = from({
      ANTHROPIC_API_KEY: ` ${KEY}\n`,
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: 'https://other.test/v1',
      GOOGLE_API_KEY: KEY,
    });
    expect(found.map(({ name, apiKey, baseUrl }) => `${name} ${apiKey} ${baseUrl.host}`)).toEqual([
      `anthropic ${KEY} api.anthropic.com`,
      `openai ${KEY} other.test`,
      `gemini ${KEY} generativelanguage.googleapis.com`,
    ]);
    expect(from({ OPENAI_API_KEY: '', OPENAI_BASE_URL: 'https://other.test' })).toEqual([]);
  });

  it('is refused where it would send a key in the clear', () => {
    expect(() => from({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: 'http://other.test' })).toThrow(/OPENAI_BASE_URL: .*https/);
  });
});
