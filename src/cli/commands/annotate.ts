import { ANNOTATE, metadataCommand } from '../write/change-metadata.ts';

export const annotateCommand = metadataCommand(ANNOTATE);
