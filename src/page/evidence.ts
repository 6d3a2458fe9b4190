/** What the verdict rests on: its findings, the first one first, as a table that needs no script. `inspect --json` has every number of it. */

import { durationText } from '../base/duration.js';
import { foldRanks } from '../base/ranks.js';
import { printable } from '../report/text.js';
import type { RunReport } from '../report/run_report.js';
import { escaped } from './html.js';

type Finding = RunReport['verdict']['findings'][number];

const TITLES = ['', 'finding', 'when (UTC)', 'call', 'look at', 'cost', 'records'];

/** Empty where nothing was found. */
export function evidencePart(report: RunReport): string {
  const { findings } = report.verdict;
  if (findings.length === 0) return '';
  const rows = findings.map((finding, i) => [
    String(i + 1),
    whatText(finding),
    whenText(finding, report),
    callText(finding),
    whoText(finding, report),
    finding.cost === null ? 'not known' : durationText(finding.cost),
    finding.records.map(({ file, record }) => `${rankText([file], report)}: ${record}`).join('\n'),
  ]);
  const row = (tag: string, values: readonly string[]): string =>
    `<tr>${values.map((value) => `<${tag}>${lines(value)}</${tag}>`).join('')}</tr>\n`;
  return (
    '<details><summary>Evidence</summary>\n<div class="wide" tabindex="0"><table class="evidence">' +
    `<thead>${row('th', TITLES)}</thead>\n<tbody>${rows.map((values) => row('td', values)).join('')}</tbody></table></div>\n</details>\n`
  );
}

const lines = (shown: string): string => shown.split('\n').map(text).join('<br>');
const text = (shown: string): string => escaped(printable(shown));

function whatText({ kind, rule, isSure, stands, because, surer }: Finding): string {
  const facts = [
    isSure ? 'certain' : 'possible',
    ...(stands ? ['stands now'] : []),
    ...(because === null ? [] : [`explained by ${because + 1}`]),
  ];
  const more = surer === null ? '' : `\nto be sure: ${surer}`;
  return `${kind.toUpperCase()}: ${rule}\n${facts.join(', ')}${more}`;
}

function whenText({ since, until }: Finding, { run }: RunReport): string {
  const clock = (at: number): string =>
    new Date(Number((BigInt(run.traceStart) + BigInt(Math.round(at))) / 1_000_000n))
      .toISOString()
      .slice(11, 23);
  if (since === null) return until === null ? 'at no one time' : `up to ${clock(until)}`;
  return until === null ? `since ${clock(since)}` : `${clock(since)} to ${clock(until)}`;
}

function callText({ where }: Finding): string {
  if (where === null) return 'no one call';
  const { func, seq, replay, comm, commId } = where;
  const number = seq === null ? '' : ` seq ${seq}`;
  return `${func}${number}${replay > 0 ? ` replay ${replay}` : ''}\non ${comm === '' ? commId : comm}`;
}

function whoText({ who, connection }: Finding, report: RunReport): string {
  const { degree, files, missing, node } = who;
  const ranks = rankText(files, report);
  const whom = {
    this: ranks,
    these: ranks,
    'one of': `one of ${ranks}`,
    node: `node ${node ?? 'of'} (${ranks})`,
    'nobody known': missing === null ? 'nobody is known' : `rank ${missing}, which has no file`,
  }[degree];
  if (connection === null) return whom;
  const { file, peerFile, channel, step } = connection;
  const to = peerFile === null ? 'a rank without a file' : rankText([peerFile], report);
  return `${whom}\n${rankText([file], report)} to ${to}, channel ${channel}${step === null ? '' : `, step ${step}`}`;
}

function rankText(files: readonly number[], { ranks }: RunReport): string {
  const found = files.map((file) => ranks[file]?.rank ?? null);
  // The label of a process with several GPUs is a text already.
  const texts = found.filter((rank) => typeof rank === 'string');
  const folded = [foldRanks(found.filter((rank) => typeof rank !== 'string')), ...texts].filter(Boolean);
  return `${files.length === 1 && texts.length === 0 ? 'rank' : 'ranks'} ${folded.join(',')}`;
}
