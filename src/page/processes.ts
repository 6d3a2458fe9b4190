/** What was taken of the suspect processes when a job hung: their threads and stacks, as a part of the page that needs no script. */

import { foldRanks } from '../base/ranks.js';
import type { Incident, SuspectProcess } from '../live/incident.js';
import { printable } from '../report/text.js';
import { escaped } from './html.js';

export const processesPart = ({ at, suspects }: Incident): string =>
  '<section id="processes"><h2>Processes</h2>\n' +
  `<p class="about">What the kernel and a debugger told of the suspects at ${text(at)}, when the stall was announced.</p>\n` +
  `${suspects.map(part).join('')}</section>\n`;

const text = (shown: unknown): string => escaped(printable(String(shown)));

function part({ ranks, process, why, stacks }: SuspectProcess): string {
  const who = `Rank ${foldRanks(ranks)}`;
  if (process === null) return `<h3>${text(who)}: ${text(why ?? 'its process had ended')}</h3>\n`;
  const { pid, name, state, threads, threadCount } = process;
  const more =
    threadCount > threads.length
      ? `<p>The first ${threads.length} of ${text(threadCount)} threads.</p>\n`
      : '';
  const rows = threads.map(
    ({ tid, name: thread, state: now, waitsIn, cpuSeconds, cpuShare }) =>
      `<tr><td>${text(tid)}</td><td>${text(thread)}</td><td>${text(now)}</td><td>${text(waitsIn ?? 'not known')}</td>` +
      `<td>${cpuSeconds.toFixed(1)} s</td><td>${(100 * cpuShare).toFixed(0)} %</td></tr>\n`,
  );
  return (
    `<h3>${text(who)}: ${text(name)}, pid ${text(pid)}, ${text(state)}</h3>\n` +
    '<table><thead><tr><th>thread</th><th>name</th><th>state</th><th>waits in</th><th>CPU time</th><th>CPU now</th></tr></thead>\n' +
    `<tbody>${rows.join('')}</tbody></table>\n${more}${stacksPart(stacks)}`
  );
}

function stacksPart(stacks: SuspectProcess['stacks']): string {
  if (stacks === null)
    return '<p class="none">No stacks: neither py-spy nor gdb was installed, or they were not asked for.</p>\n';
  const why = stacks.why === null ? '' : `<p>${text(stacks.by)}: ${text(stacks.why)}</p>\n`;
  const lines = stacks.text.split('\n').map(text).join('\n');
  return `<p>Stacks, by ${text(stacks.by)}:</p>\n${why}<pre tabindex="0">${lines}</pre>\n`;
}
