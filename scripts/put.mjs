// How a build writes a file of dist/ or build/.

import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Under another name first: two builds at once never leave half a file behind. */
export function put(file, contents) {
  if (existsSync(file) && readFileSync(file).equals(contents)) return;
  mkdirSync(path.dirname(file), { recursive: true });
  const draft = `${file}.${randomUUID()}.tmp`;
  writeFileSync(draft, contents);
  renameSync(draft, file);
}
