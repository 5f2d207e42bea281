/** The guest agent's version, equal to the package's: the bundle has no package.json to read. */
export const GUEST_VERSION = '0.1.0';
