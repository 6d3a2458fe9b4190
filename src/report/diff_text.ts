/** What differs between two runs as text, one line per collective, link or rank. */

import { addTo } from '../base/grouped.js';
import type { Changes, Difference, Measure, Subject } from '../analysis/changes.js';
import type { LinkLine } from '../analysis/latency_and_rate.js';
import { binarySize, counted } from '../base/units.js';
import { durationText } from '../base/duration.js';
import { linkKey, type DiffSide, type RunDiff } from './diff.js';
import { printable, sizeText } from './text.js';

const MOST_SUBJECTS = 16;

export function diffText(diff: RunDiff): string {
  const subjects = bySubject(diff.differences);
  const count = subjects.length;
  const lines = [
    ...(diff.choices.length > 0 ? ['NCCL chose otherwise: no matter of noise'] : []),
    ...diff.choices.slice(0, MOST_SUBJECTS).map((one) => `  chosen:         ${choiceText(one)}`),
    count === 0
      ? 'no difference beyond the noise'
      : `${counted(count, 'difference')} beyond the noise, the costliest first`,
    `  before:         ${sideText(diff.before)}`,
    `  after:          ${sideText(diff.after)}`,
    ...subjects
      .slice(0, MOST_SUBJECTS)
      .map((all) => `  ${`${wordOf(all)}:`.padEnd(16)}${subjectText(all, diff)}`),
    ...(count > MOST_SUBJECTS ? [`  and ${count - MOST_SUBJECTS} more: --json`] : []),
    ...onlyIn('before', diff.onlyBefore),
    ...onlyIn('after', diff.onlyAfter),
    `  compared:       ${diff.compared} numbers${resolutionText(diff.resolution)}`,
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

/** "AllReduce of 2 MiB to 8 MiB (4 ranks): TREE/SIMPLE to RING/SIMPLE, 4 to 1 channels, in 39 of 39" */
function choiceText({ of, before, after }: Changes['choices'][number]): string {
  const plan = before.plan === after.plan ? before.plan : `${before.plan} to ${after.plan}`;
  const isSame = before.channels === after.channels;
  const channels = isSame ? `${after.channels} channels` : `${before.channels} to ${after.channels} channels`;
  return `${nameOf(of)}: ${plan}, ${channels}, in ${after.count} of ${after.of}`;
}

function sideText({ headline, run }: DiffSide): string {
  return `${headline.replace(/[. ]+$/, '')} (${sizeText(run.worldSize)}, ${durationText(run.durationNs)})`;
}

function bySubject(all: readonly Difference[]): Difference[][] {
  const subjects = new Map<Subject, Difference[]>();
  for (const one of all) addTo(subjects, one.of, one);
  return [...subjects.values()];
}

const wordOf = (all: readonly Difference[]): string =>
  all.every(({ isWorse }) => isWorse) ? 'worse' : all.some(({ isWorse }) => isWorse) ? 'mixed' : 'better';

function subjectText(all: readonly Difference[], { links }: RunDiff): string {
  const [{ of }] = all as [Difference];
  const numbers = all.map(numberText).join(', ');
  const cost = all.reduce((most, { costNs }) => (Math.abs(costNs ?? 0) > Math.abs(most) ? costNs! : most), 0);
  const costs = cost === 0 ? '' : `; ${cost > 0 ? 'costs' : 'saves'} about ${durationText(Math.abs(cost))}`;
  const line = of.kind === 'link' ? links.find((link) => linkKey(link) === linkKey(of as never)) : undefined;
  const rates = line ? `; ${lineText(line.before)} -> ${lineText(line.after)}` : '';
  return `${nameOf(of)}: ${numbers}${rates}${costs}`;
}

const lineText = ({ latencyNs, rateGBs }: LinkLine): string =>
  `latency ${durationText(latencyNs)}, rate ${rateGBs === null ? 'not known' : `${rateGBs} GB/s`}`;

function nameOf(of: Subject): string {
  switch (of.kind) {
    case 'collectives': {
      const size =
        of.sizeClass === null ? '' : ` of ${binarySize(of.sizeClass)} to ${binarySize(4 * of.sizeClass)}`;
      const comm = of.comm === '' ? '' : `${of.comm}, `;
      return `${of.func}${size} (${comm}${sizeText(of.commSize)})`;
    }
    case 'link':
      return `link ${of.source} -> ${of.destination}${of.comm === '' ? '' : ` (${of.comm})`}`;
    case 'rank':
      return `rank ${of.rank}`;
  }
}

const MEASURES: Readonly<Record<Measure, string>> = {
  duration: 'duration',
  busbw: 'busbw',
  skew: 'skew',
  send: 'a send takes',
  lateness: 'arrives late by',
  gpuWait: 'a transfer waits for the GPU',
  peerWait: 'a transfer waits for room',
  recvWait: 'a transfer waits for data',
  flushWait: 'a transfer waits for a flush',
};

function numberText({ measure, before, after, change, low, high }: Difference): string {
  const value = (of: number): string =>
    measure === 'busbw' ? `${Number(of.toPrecision(3))} GB/s` : durationText(of);
  const parts =
    change === null || low === null || high === null
      ? ''
      : `, ${percent(change)} (${percent(low)} to ${percent(high)})`;
  return `${MEASURES[measure]} ${value(before)} -> ${value(after)}${parts}`;
}

/** "+12 %", and factors where percents are hard to read. */
function percent(change: number): string {
  if (change >= 9) return `${Number((change + 1).toPrecision(2))} times`;
  return `${change < 0 ? '-' : '+'}${Math.abs(100 * change).toFixed(0)} %`;
}

const onlyIn = (side: 'before' | 'after', subjects: readonly Subject[]): string[] =>
  subjects.length === 0 ? [] : [`  ${`only ${side}:`.padEnd(16)}${subjects.map(nameOf).join(', ')}`];

function resolutionText({ duration, send }: Changes['resolution']): string {
  const parts = [
    duration === undefined ? [] : [`of a duration up to ${percent(duration)}`],
    send === undefined ? [] : [`of a send time up to ${percent(send)}`],
  ].flat();
  return parts.length === 0 ? '' : `; noise may hide changes ${parts.join(', ')}`;
}
