import { LABEL, metadataCommand } from '../write/change-metadata.ts';

export const labelCommand = metadataCommand(LABEL);
