import { existsSync, readdirSync } from 'node:fs';

/** All names, also hidden ones; none if there is no such folder. */
export const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder).sort() : []);
