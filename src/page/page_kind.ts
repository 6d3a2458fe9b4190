/** The page as a kind of output: it may replace an older page. */

import type { OutputKind } from '../output/allowed.js';
import { beginsWith } from '../output/file_start.js';
import { PAGE_START } from './page.js';

export const PAGE: OutputKind = {
  name: 'a report',
  option: '-o report.html',
  wrote: (path) => beginsWith(path, PAGE_START),
};
