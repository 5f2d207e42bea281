/**
 * The first file of the guest agent that runs. Program and compiled code lie in one file beside it, made by scripts/bundle-guest.mjs: one
 * file, because V8 knows the program that its code belongs to by the length alone.
 */
import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';

declare const require: unknown;
declare const __filename: string;

const pack = readFileSync(__filename.replace(/cjs$/, 'pack'));
const programEnd = 4 + pack.readUInt32LE(0);
// A Node of another version or with other flags does not take the compiled code and compiles for itself.
const options = { filename: 'guest-agent.js', cachedData: pack.subarray(programEnd) };
new Script(pack.toString('latin1', 4, programEnd), options).runInThisContext()(require);
