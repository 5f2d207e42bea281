/** Changes a kubeconfig in its own words: comments and order stay. */
import { renameSync, statSync, writeFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { type Kubeconfig, readText } from './kubeconfig.ts';

/** In the file that says which context is current; in the first one when none does. */
export async function setCurrentContext({ files }: Kubeconfig, name: string): Promise<void> {
  const existing = files.filter((file) => statSync(file, { throwIfNoEntry: false }) !== undefined);
  const documents = existing.map((file) => ({ file, document: parseDocument(readText(file)) }));
  const target = documents.find(({ document }) => document.get('current-context')) ?? documents[0];
  if (!target) return;
  target.document.set('current-context', name);
  replaceFile(target.file, target.document.toString({ lineWidth: 0 }));
}

/** Whole or not at all, and as private as it was. */
function replaceFile(file: string, text: string): void {
  const beside = `${file}.${process.pid}.new`;
  writeFileSync(beside, text, { mode: statSync(file).mode });
  renameSync(beside, file);
}
