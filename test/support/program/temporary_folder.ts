/** Folders of tests. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach } from 'vitest';

/** A new folder, and a function that removes it. */
export function temporaryFolder(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'nccl-trace-test-'));
  return {
    folder,
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A new folder for all tests of the file, removed after the last one. */
export function folderOfFile(): string {
  const { folder, remove } = temporaryFolder();
  afterAll(remove);
  return folder;
}

/** Before each test of the file a new folder, removed after it. `use` says where it is, and makes ready what lies there. */
export function eachInItsFolder(use: (folder: string) => void): void {
  let remove: () => void;
  beforeEach(() => {
    const made = temporaryFolder();
    ({ remove } = made);
    use(made.folder);
  });
  afterEach(() => {
    remove();
  });
}
