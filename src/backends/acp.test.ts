import { describe, expect, it } from 'vitest';
import { acp, parseCustomAgent } from './acp.ts';

describe('parseCustomAgent', () => {
  it('takes a program with its arguments, variables and mode', () => {
    const text = '{"argv":["/opt/x/goose","acp"],"env":{"HOST":"{baseUrl}"},"mode":"auto"}';
    expect(parseCustomAgent(text)).toEqual({ argv: ['/opt/x/goose', 'acp'], env: { HOST: '{baseUrl}' }, mode: 'auto' });
  });

  it('takes what is known of its ways', () => {
    const known = { readyAfterMs: 0, loadsSessions: true };
    expect(parseCustomAgent(JSON.stringify({ argv: ['x'], ...known }))).toEqual({ argv: ['x'], env: {}, ...known });
  });

  it.each([
    ['{}', 'argv must be a list of texts, the program first'],
    ['{"argv":[]}', 'argv must be a list of texts, the program first'],
    ['{"argv":["x",1]}', 'argv must be a list of texts, the program first'],
    ['{"argv":["x"],"env":{"A":1}}', 'env must be an object of texts'],
    ['{"argv":["x"],"mode":1}', 'mode must be a text'],
    ['{"argv":["x"],"enviroment":{}}', 'enviroment is not known; argv, env, mode, readyAfterMs, loadsSessions are'],
    ['{"argv":["x"],"readyAfterMs":"1"}', 'readyAfterMs must be a number from 0 to 60000'],
    ['{"argv":["x"],"loadsSessions":1}', 'loadsSessions must be true or false'],
    ['[]', 'argv must be a list of texts, the program first'],
  ])('refuses %s', (text, problem) => {
    expect(() => parseCustomAgent(text)).toThrow(`acp/agent.json: ${problem}`);
  });
});

describe('the launch', () => {
  const context = { tools: '/t', home: '/h', workspace: '/w', baseUrl: 'http://u', model: 'm', permissions: 'ask' } as const;

  it('fills in where the model is', () => {
    const custom = { argv: ['/x'], env: { A: '{baseUrl}/v1', B: '{model}', C: '{home}/c', D: '{other}' } } as const;
    expect(acp.acp?.launch({ ...context, custom })).toEqual({
      argv: ['/x'],
      env: { A: 'http://u/v1', B: 'm', C: '/h/c', D: '{other}' },
      files: [],
    });
  });

  it('says what is missing when nothing is configured', () => {
    expect(() => acp.acp?.launch(context)).toThrow('the backend acp is not configured: /t/acp/agent.json is missing');
  });
});
