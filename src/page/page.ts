/**
 * The report as one HTML file that needs nothing else. It sends no request, which its own policy enforces, and contains its trace. The most
 * important facts are in the HTML itself. Scripts (dist/page/) make tables and pictures from the data.
 */

import { counted } from '../base/units.js';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { projectFile } from '../base/project.js';
import { durationText } from '../base/duration.js';
import type { Incident } from '../live/incident.js';
import { printable } from '../report/text.js';
import { worstSteps } from '../report/exposed_steps.js';
import type { RunReport } from '../report/run_report.js';
import { evidencePart } from './evidence.js';
import { escaped, jsonInScript } from './html.js';
import type { PageData } from './page_data.js';
import { processesPart } from './processes.js';

/** The beginning of every page. It shows that a file is one of ours. */
export const PAGE_START = '<!doctype html>\n<!-- a report by nccl-trace -->\n';

export interface TraceInPage {
  /** Compressed (.pftrace.gz). */
  readonly bytes: Uint8Array;
  readonly fileName: string;
  readonly origin: string;
  readonly startup: string;
}

/** `why`: the reason if there is no trace. `incident`: what `watch` took of the processes. `pictures`: of training steps. */
export function pageOf(
  report: RunReport,
  trace: TraceInPage | { readonly why: string },
  incident: Incident | null = null,
  pictures: PageData['pictures'] = [],
): string {
  const [script, style] = ['client.js', 'client.css'].map((name) =>
    readFileSync(projectFile(`dist/page/${name}`), 'utf8').trimEnd(),
  ) as [string, string];
  const carried = 'bytes' in trace ? trace : null;
  const data: PageData = {
    report: forPage(report),
    pictures,
    trace: carried && {
      fileName: carried.fileName,
      origin: carried.origin,
      startup: carried.startup,
      traceStart: report.run.traceStart,
    },
  };
  return [
    PAGE_START,
    `<html lang="en" data-kind="${escaped(report.verdict.kind)}">\n<head>\n<meta charset="utf-8">\n`,
    `<meta http-equiv="Content-Security-Policy" content="${policy(script, style)}">\n`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
    '<meta name="referrer" content="no-referrer">\n',
    `<title>${text(report.headline)}</title>\n<style>${style}</style>\n</head>\n<body>\n<main>\n`,
    head(report),
    actions(trace),
    verdict(report),
    nav(report, incident),
    incident === null ? '' : processesPart(incident),
    '<div id="sections"></div>\n',
    '<noscript><p>Tables and pictures need JavaScript, which runs in this page alone.</p></noscript>\n</main>\n',
    `<script type="application/json" id="data">${jsonInScript(data)}</script>\n`,
    carried
      ? `<script type="text/plain" id="trace">${Buffer.from(carried.bytes).toString('base64')}</script>\n`
      : '',
    `<script>${script}</script>\n</body>\n</html>\n`,
  ].join('');
}

/** The policy: nothing is loaded from anywhere, and only this script and this style run. */
function policy(script: string, style: string): string {
  const hash = (code: string): string => `'sha256-${createHash('sha256').update(code).digest('base64')}'`;
  return [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/** With more rows a browser gets slow. The tables of the command line have all of them. */
const MOST_ROWS = 1500;

const forPage = (report: RunReport): RunReport => ({
  ...report,
  // Findings point to links by index, so these links stay.
  links: report.links.slice(0, Math.max(MOST_ROWS, lastSlow(report) + 1)),
  pairs: report.pairs.slice(0, MOST_ROWS),
  waits: report.waits.slice(0, MOST_ROWS),
  trainingSteps: worstSteps(report.trainingSteps, MOST_ROWS).worst,
});

const lastSlow = ({ slowLinks }: RunReport): number =>
  slowLinks.reduce((last, { link }) => Math.max(last, link), -1);

const text = (shown: string): string => escaped(printable(shown));

function head({ headline, run, ranks, made }: RunReport): string {
  const [kind = '', ...rest] = headline.split(': ');
  const what = rest.length > 0 ? ` ${rest.join(': ')}` : '';
  const start = new Date(Number(BigInt(run.traceStart) / 1_000_000n));
  const begun = Number.isNaN(start.getTime())
    ? 'at an impossible time'
    : `${start.toISOString().slice(0, 19)} UTC`;
  const missing = run.missingRanks.length === 0 ? '' : `, ${run.missingRanks.length} without a file`;
  const facts = [
    `${ranks.length} of ${run.worldSize || '?'} ranks${missing}`,
    counted(run.hosts, 'host'),
    durationText(run.durationNs),
    `from ${begun.replace('T', ' ')}`,
    `${run.records} records`,
  ];
  return `<p class="kicker">${text(made.by)} · NCCL run</p>\n<h1><b>${text(kind)}</b>${text(what)}</h1>\n<p class="sub">${text(facts.join(' · '))}</p>\n`;
}

function actions(trace: TraceInPage | { readonly why: string }): string {
  if (!('bytes' in trace))
    return `<div class="actions"><p>${text(trace.why)}</p><p id="status" role="status"></p></div>\n`;
  return (
    '<div class="actions"><button type="button" class="main" data-do="open">Open in Perfetto</button>' +
    `<button type="button" data-do="save">Save trace</button>` +
    `<p>The trace (${text(sizeText(trace.bytes.length))}) is in this file. Perfetto opens it in your browser; nothing is uploaded. A page from a file has no origin. So Perfetto asks once whether it may open a trace from an unknown origin: answer Yes.</p>` +
    '<p id="status" role="status"></p></div>\n'
  );
}

const sizeText = (bytes: number): string =>
  bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/** The lines "  label:   text" as the command prints them. A line that continues another has no label. */
function verdict(report: RunReport): string {
  const { headline, lines, next } = report;
  const [first = '', ...rest] = lines;
  const isSaid = headline.replace(': ', ' ').startsWith(first.replace(/ +/g, ' '));
  const rows = rest.map((line) => {
    const [, label = '', rest = line.trim()] = /^ {2}([^:]{1,17}): +(.*)$/.exec(line) ?? [];
    return `<dt>${text(label)}</dt><dd>${text(rest)}</dd>\n`;
  });
  const whole = isSaid ? '' : `<dt>verdict</dt><dd>${text(first)}</dd>\n`;
  const command =
    next === null ? '' : `<p class="next">To look closer, run: <code>${text(next)}</code></p>\n`;
  return `<dl class="verdict">\n${whole}${rows.join('')}</dl>\n${command}${evidencePart(report)}`;
}

const nav = ({ causes, flightRecorder, trainingSteps }: RunReport, incident: Incident | null): string =>
  '<nav aria-label="Sections">' +
  [
    ...(incident === null ? [] : [['processes', 'Processes']]),
    ...(causes.length > 0 ? [['why-it-is-slow', 'Why']] : []),
    ...(flightRecorder ? [['python-calls', 'Python']] : []),
    ...(trainingSteps.length > 0 ? [['training-steps', 'Steps']] : []),
    ['around-the-moment', 'Moment'],
    ['who-waits-for-whom', 'Waits'],
    ['where-the-time-went', 'Time'],
    ['collectives', 'Collectives'],
    ['lateness', 'Lateness'],
    ['links', 'Links'],
    ['clocks', 'Clocks'],
    ['how-this-was-made', 'Made'],
  ]
    .map(([id, name]) => `<a href="#${id}">${name}</a>`)
    .join('') +
  '</nav>\n';
