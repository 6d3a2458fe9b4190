/** What the verdict rests on: each of its findings in one line, and the records that show it. `inspect --json` has every number. */

import { printable } from '../report/text.js';
import type { RunReport } from '../report/run_report.js';
import { escaped } from './html.js';

/** Empty where nothing was found. */
export function evidencePart({ verdict: { findings }, ranks }: RunReport): string {
  if (findings.length === 0) return '';
  const items = findings.map(({ records, isSure, surer, says }) => {
    const shown = records.map(({ file, record }) => `rank ${ranks[file]?.rank ?? '?'} ${record}`);
    const more = [
      ...(isSure ? [] : ['It may have another cause.']),
      ...(surer === null ? [] : [`To be sure: ${surer}.`]),
      ...(shown.length === 0 ? [] : [`Records: ${shown.join(', ')}.`]),
    ];
    return `<li>${text(says)}<br><small>${text(more.join(' '))}</small></li>\n`;
  });
  return `<details><summary>Evidence</summary>\n<ol>\n${items.join('')}</ol>\n</details>\n`;
}

const text = (shown: string): string => escaped(printable(shown));
