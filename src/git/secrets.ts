/** Texts that look like credentials: they have no business in a repository, and a branch with one is not published. Pure. */

/** Of well-known issuers, by the shape they document; a rule that cries wolf would only be switched off. */
const PATTERNS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['private key', /-----BEGIN (?:RSA |EC |DSA |OPENSSH |PGP )?PRIVATE KEY(?: BLOCK)?-----/],
  ['AWS access key', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/],
  ['GitHub token', /\b(?:ghp|gho|ghu|ghs|ghr)_[0-9A-Za-z]{36,255}\b|\bgithub_pat_[0-9A-Za-z_]{60,255}\b/],
  ['GitLab token', /\bglpat-[0-9A-Za-z_-]{20,}\b/],
  ['Slack token', /\bxox[abprs]-[0-9A-Za-z-]{20,}\b/],
  ['Anthropic key', /\bsk-ant-[0-9A-Za-z_-]{24,}\b/],
  ['OpenAI key', /\bsk-(?:proj-)?[0-9A-Za-z_-]{40,}\b/],
  ['Google key', /\bAIza[0-9A-Za-z_-]{35}\b/],
  ['npm token', /\bnpm_[0-9A-Za-z]{36}\b/],
];

/** What kind of secret stands in there, if any. */
export function secretIn(content: Buffer): string | undefined {
  // Latin 1 keeps one character per byte: binary files are looked at as well, and nothing is decoded wrongly.
  const text = content.toString('latin1');
  return PATTERNS.find(([, pattern]) => pattern.test(text))?.[0];
}
