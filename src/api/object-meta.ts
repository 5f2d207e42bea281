/** The rules of metadata that every kind shares, in Kubernetes' words. */
import type { FieldProblem } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { isSubdomain, labelValueProblems, qualifiedNameProblems, SUBDOMAIN_TEXT } from './label-syntax.ts';

export interface MetadataRules {
  readonly isNamespaced: boolean;
  /** Which names are names: a host name with dots, or one label of it. */
  readonly names: 'label' | 'subdomain';
}

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const MAX_ANNOTATIONS = 256 * 1024;

const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** Values of the wrong type are left to the schema. `old`: what is as it was stored is not looked at again. */
export function checkMetadata(metadata: JsonObject, rules: MetadataRules, old: object | undefined, problems: FieldProblem[]): void {
  const before = (old ?? {}) as JsonObject;
  const isChanged = (field: string) => old === undefined || metadata[field] !== before[field];
  const report = (field: string, value: unknown, text: string) => problems.push(problem(`metadata.${field}`, value, text));
  if (isChanged('generateName')) checkGenerateName(metadata['generateName'], rules, report);
  if (isChanged('name')) checkName(metadata['name'], rules, report, problems);
  if (isChanged('namespace') && rules.isNamespaced) checkNamespace(metadata['namespace'], report, problems);
  if (isChanged('labels')) checkLabels(metadata['labels'], report);
  if (isChanged('annotations')) checkAnnotations(metadata['annotations'], report, problems);
  if (isChanged('ownerReferences')) checkOwners(list(metadata['ownerReferences']), report);
  if (isChanged('finalizers')) checkFinalizers(list(metadata['finalizers']), report);
}

type Report = (field: string, value: unknown, text: string) => void;

function problem(path: string, value: unknown, text: string): FieldProblem {
  return { path, segments: path.split('.'), kind: 'Invalid', message: `Invalid value: ${JSON.stringify(value)}: ${text}` };
}

function required(path: string, text: string): FieldProblem {
  return { path, segments: path.split('.'), kind: 'Required', message: `Required value: ${text}` };
}

function nameProblems(name: string, { names }: MetadataRules): string[] {
  const isLabel = names === 'label';
  const limit = isLabel ? 63 : 253;
  const isWellFormed = isLabel ? LABEL.test(name) : isSubdomain(name);
  return [
    ...(name.length > limit ? [`must be no more than ${limit} characters`] : []),
    ...(isWellFormed ? [] : [isLabel ? labelText(name) : SUBDOMAIN_TEXT]),
  ];
}

function labelText(name: string): string {
  return isSubdomain(name) ? 'must not contain dots' : LABEL_TEXT;
}

function checkName(name: unknown, rules: MetadataRules, report: Report, problems: FieldProblem[]): void {
  if (name === undefined || name === null || name === '') problems.push(required('metadata.name', 'name or generateName is required'));
  else if (typeof name === 'string') for (const text of nameProblems(name, rules)) report('name', name, text);
}

/** A prefix may end in a dash, because more follows. */
function checkGenerateName(prefix: unknown, rules: MetadataRules, report: Report): void {
  if (typeof prefix !== 'string' || prefix === '') return;
  const completed = prefix.endsWith('-') ? `${prefix.slice(0, -1)}a` : prefix;
  for (const text of nameProblems(completed, rules)) report('generateName', prefix, text);
}

function checkNamespace(namespace: unknown, report: Report, problems: FieldProblem[]): void {
  if (namespace === undefined || namespace === null || namespace === '') problems.push(required('metadata.namespace', ''));
  else if (typeof namespace === 'string') {
    for (const text of nameProblems(namespace, { isNamespaced: true, names: 'label' })) report('namespace', namespace, text);
  }
}

function checkLabels(labels: unknown, report: Report): void {
  for (const [key, value] of entries(labels)) {
    checkQualified(key, (text) => report('labels', key, text));
    if (typeof value === 'string') for (const text of labelValueProblems(value)) report('labels', value, text);
  }
}

function checkAnnotations(annotations: unknown, report: Report, problems: FieldProblem[]): void {
  let bytes = 0;
  for (const [key, value] of entries(annotations)) {
    checkQualified(key.toLowerCase(), (text) => report('annotations', key, text));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(String(value));
  }
  if (bytes <= MAX_ANNOTATIONS) return;
  const message = `Too long: may not be more than ${MAX_ANNOTATIONS} bytes`;
  problems.push({ path: 'metadata.annotations', segments: ['metadata', 'annotations'], kind: 'TooLong', message });
}

function checkFinalizers(finalizers: readonly unknown[], report: Report): void {
  for (const name of finalizers) checkQualified(name, (text) => report('finalizers', name, text));
  const [orphan, foreground] = ['orphan', 'foregroundDeletion'];
  if (!finalizers.includes(orphan) || !finalizers.includes(foreground)) return;
  report('finalizers', finalizers, `finalizer ${orphan} and ${foreground} cannot be both set`);
}

function checkQualified(key: unknown, report: (text: string) => void): void {
  if (typeof key === 'string') for (const text of qualifiedNameProblems(key)) report(text);
}

function checkOwners(owners: readonly unknown[], report: Report): void {
  const given = owners.filter(isObject);
  for (const owner of given) checkOwner(owner, report);
  const [first, second] = given.filter(({ controller }) => controller === true);
  if (!first || !second) return;
  const shown = [first, second].map(({ kind, name }) => `${kind}/${name}`).join(' and ');
  report('ownerReferences', owners, `Only one reference can have Controller set to true. Found "true" in references for ${shown}`);
}

function checkOwner(owner: JsonObject, report: Report): void {
  const { apiVersion = '', kind } = owner;
  const parts = String(apiVersion).split('/');
  if (parts.length > 2 || !parts.at(-1)) report('ownerReferences.apiVersion', apiVersion, 'version must not be empty');
  for (const field of ['kind', 'name', 'uid']) {
    if (!owner[field]) report(`ownerReferences.${field}`, owner[field] ?? '', 'must not be empty');
  }
  // What goes away by itself after an hour must not take others with it.
  if (apiVersion === 'v1' && kind === 'Event') report('ownerReferences', owner, '/v1, Kind=Event is disallowed from being an owner');
}

function entries(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
