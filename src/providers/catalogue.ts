/** The providers of models that need only a key: where they are, how they take it, and how it is called in an environment. */

export interface KnownProvider {
  readonly baseUrl: string;
  readonly header: string;
  readonly prefix: string;
  /** The first that is set counts. */
  readonly keyVariables: readonly string[];
  readonly baseUrlVariable: string;
}

export const KNOWN_PROVIDERS: Readonly<Record<string, KnownProvider>> = {
  anthropic: {
    baseUrl: 'https://api.anthropic.com',
    header: 'x-api-key',
    prefix: '',
    keyVariables: ['ANTHROPIC_API_KEY'],
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
  },
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    header: 'authorization',
    prefix: 'Bearer ',
    keyVariables: ['OPENAI_API_KEY'],
    baseUrlVariable: 'OPENAI_BASE_URL',
  },
  gemini: {
    baseUrl: 'https://generativelanguage.googleapis.com',
    header: 'x-goog-api-key',
    prefix: '',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    baseUrlVariable: 'GOOGLE_GEMINI_BASE_URL',
  },
};
