import { describe, expect, it } from 'vitest';
import type { CredentialsHere } from '../command.ts';
import { judgeCredentials } from './credentials.ts';

const none: CredentialsHere = {
  file: '/h/credentials.yaml',
  isDaemon: false,
  providers: [
    { name: 'anthropic', variables: ['ANTHROPIC_API_KEY'] },
    { name: 'openai', variables: ['OPENAI_API_KEY'] },
  ],
};

describe('credentials', () => {
  it('are missing where there is none, and the line that gives one is said', () => {
    expect(judgeCredentials(none)).toEqual({
      state: 'missing',
      detail: 'a daemon would have none',
      fix: {
        advice:
          'below providers: in /h/credentials.yaml, mode 0600, write anthropic: {apiKey: YOUR-KEY}; or start the daemon with ANTHROPIC_API_KEY=YOUR-KEY; agentiso backends says it for each',
      },
    });
  });

  it('are there where the daemon has one, and those that are not are named', () => {
    const [anthropic, openai] = none.providers.map((provider) => ({ ...provider, from: 'file' as const }));
    const said = { ...none, isDaemon: true };
    expect(judgeCredentials({ ...said, providers: [anthropic, none.providers[1]].filter((each) => each !== undefined) })).toEqual({
      state: 'ok',
      detail: 'the daemon has one for anthropic; none for openai (agentiso backends)',
    });
    const all = [anthropic, openai].filter((each) => each !== undefined);
    expect(judgeCredentials({ ...said, providers: all }).detail).toBe('the daemon has one for anthropic, openai');
  });

  it('are broken where the file is not used', () => {
    expect(judgeCredentials({ ...none, problem: 'its mode is 0644' })).toEqual({
      state: 'broken',
      detail: '/h/credentials.yaml is not used: its mode is 0644',
    });
  });
});
