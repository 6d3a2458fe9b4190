import { readdirSync, utimesSync } from 'node:fs';
import path from 'node:path';

/** The files of a run were written so many days ago, as far as the file system knows. */
export function ageRun(folder: string, days: number): void {
  for (const file of readdirSync(folder))
    utimesSync(path.join(folder, file), 0, Date.now() / 1e3 - days * 86_400);
}
