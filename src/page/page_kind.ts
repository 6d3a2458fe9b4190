/** The page as a kind of output: it may replace an older page. */

import { closeSync, openSync, readSync } from 'node:fs';
import type { OutputKind } from '../output/allowed.js';
import { PAGE_START } from './page.js';

export const PAGE: OutputKind = {
  name: 'a report',
  option: '-o report.html',
  wrote: (path) => {
    const file = openSync(path, 'r');
    try {
      const start = Buffer.alloc(PAGE_START.length);
      return start.toString('latin1', 0, readSync(file, start, 0, start.length, 0)) === PAGE_START;
    } finally {
      closeSync(file);
    }
  },
};
