/** Why a text is not JSON, in the words of Go's decoder, which clients of Kubernetes have learnt to read. Only ever run on what failed. */

type State = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | 'after value';

interface Reading {
  readonly text: string;
  readonly open: ('{' | '[')[];
  at: number;
  state: State;
}

class Complaint extends Error {}

/** Undefined when the text is JSON. */
export function complaintAbout(text: string): string | undefined {
  const reading: Reading = { text, open: [], at: 0, state: 'value' };
  try {
    for (;;) {
      skipBlanks(reading);
      if (reading.at >= text.length && reading.state === 'after value' && reading.open.length === 0) return undefined;
      STEPS[reading.state](reading, take(reading));
    }
  } catch (error) {
    if (error instanceof Complaint) return error.message;
    throw error;
  }
}

const STEPS: Readonly<Record<State, (reading: Reading, character: string) => void>> = {
  value: readValue,
  'value or ]': (reading, character) => (character === ']' ? close(reading) : readValue(reading, character)),
  key: readKey,
  'key or }': (reading, character) => (character === '}' ? close(reading) : readKey(reading, character)),
  ':': (reading, character) => {
    if (character !== ':') throw invalid(character, 'after object key');
    reading.state = 'value';
  },
  'after value': readAfterValue,
};

function skipBlanks(reading: Reading): void {
  while (' \t\r\n'.includes(reading.text[reading.at] ?? '-')) reading.at++;
}

function take(reading: Reading): string {
  const character = reading.text[reading.at++];
  if (character === undefined) throw new Complaint('unexpected end of JSON input');
  return character;
}

function invalid(character: string, where: string): Complaint {
  return new Complaint(`invalid character ${quoted(character)} ${where}`);
}

/** Go sees bytes: of a character beyond ASCII the first one. */
function quoted(character: string): string {
  if (character === "'") return "'\\''";
  if (character === '"') return `'"'`;
  const byte = Buffer.from(character)[0] ?? 0;
  const isControl = byte < 0x20 || byte === 0x7f;
  const text = byte < 0x80 ? JSON.stringify(character).slice(1, -1) : String.fromCharCode(byte);
  return `'${isControl && text.startsWith('\\u') ? `\\x${text.slice(-2)}` : text}'`;
}

function readValue(reading: Reading, character: string): void {
  if (character === '{' || character === '[') {
    reading.open.push(character);
    reading.state = character === '{' ? 'key or }' : 'value or ]';
    return;
  }
  if (character === '"') readString(reading);
  else if (/[-\d]/.test(character)) readNumber(reading, character);
  else readLiteral(reading, character);
  reading.state = 'after value';
}

function readKey(reading: Reading, character: string): void {
  if (character !== '"') throw invalid(character, 'looking for beginning of object key string');
  readString(reading);
  reading.state = ':';
}

function readAfterValue(reading: Reading, character: string): void {
  const within = reading.open.at(-1);
  if (within === undefined) throw invalid(character, 'after top-level value');
  if (character === (within === '{' ? '}' : ']')) close(reading);
  else if (character === ',') reading.state = within === '{' ? 'key' : 'value';
  else throw invalid(character, within === '{' ? 'after object key:value pair' : 'after array element');
}

function close(reading: Reading): void {
  reading.open.pop();
  reading.state = 'after value';
}

function readString(reading: Reading): void {
  for (let character = take(reading); character !== '"'; character = take(reading)) {
    if (character < ' ') throw invalid(character, 'in string literal');
    if (character === '\\') readEscape(reading);
  }
}

function readEscape(reading: Reading): void {
  const letter = take(reading);
  if (!'"\\/bfnrtu'.includes(letter)) throw invalid(letter, 'in string escape code');
  for (let digits = letter === 'u' ? 4 : 0; digits > 0; digits--) {
    const digit = take(reading);
    if (!/[\da-f]/i.test(digit)) throw invalid(digit, 'in \\u hexadecimal character escape');
  }
}

function readNumber(reading: Reading, first: string): void {
  const start = first === '-' ? digit(reading, 'in numeric literal') : first;
  if (start !== '0') skipDigits(reading);
  if (reading.text[reading.at] === '.') {
    reading.at++;
    digit(reading, 'after decimal point in numeric literal');
    skipDigits(reading);
  }
  if (/[eE]/.test(reading.text[reading.at] ?? '')) {
    reading.at++;
    if (/[-+]/.test(reading.text[reading.at] ?? '')) reading.at++;
    digit(reading, 'in exponent of numeric literal');
    skipDigits(reading);
  }
}

function digit(reading: Reading, where: string): string {
  const character = take(reading);
  if (!/\d/.test(character)) throw invalid(character, where);
  return character;
}

function skipDigits(reading: Reading): void {
  while (/\d/.test(reading.text[reading.at] ?? '')) reading.at++;
}

function readLiteral(reading: Reading, first: string): void {
  const literal = ['true', 'false', 'null'].find((word) => word.startsWith(first));
  if (!literal) throw invalid(first, 'looking for beginning of value');
  for (const expected of literal.slice(1)) {
    const character = take(reading);
    if (character !== expected) throw invalid(character, `in literal ${literal} (expecting '${expected}')`);
  }
}
