/**
 * For `node --import`: the conformance suite names `globSync` among what it takes of `fs`, which Node 20 does not have. It looks for files
 * with it only when it tests a client, so here it finds none.
 */
import * as fs from 'node:fs';
import { register } from 'node:module';

const WITH_GLOB = "export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => [];";
const HOOKS = `
const url = ${JSON.stringify(`data:text/javascript,${encodeURIComponent(WITH_GLOB)}`)};
export async function resolve(specifier, context, next) {
  const isOfSuite = specifier === 'fs' && context.parentURL?.includes('/conformance/dist/');
  return isOfSuite ? { url, format: 'module', shortCircuit: true } : next(specifier, context);
}`;

if (!('globSync' in fs)) register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
