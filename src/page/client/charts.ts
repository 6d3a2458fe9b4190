/** The pictures: all ranks around the moment, lateness by rank and time, and where each rank's step time went. */

import type { RunReport } from '../../report/run_report.js';
import { barChart, rankLabel, type Bars } from './chart.js';
import { colour, h, shown } from './dom.js';
import { duration, timeOfDay } from './format.js';

/** Shades of the heat map. */
const SHADES = 24;
const FUNCTIONS = ['one', 'two', 'three', 'four', 'five', 'six'];

/** Times of day on an axis; with milliseconds if it is short. */
const timeAxis =
  (traceStart: string, length: number) =>
  (at: number): string =>
    timeOfDay(traceStart, at, length < 20e9);

/** Rows for ranks without a file. More are only counted. */
const MOST_MISSING = 16;

/**
 * Every rank's collectives around the moment. In a hang the bars reach the edge. A straggler's bar begins last. Work of a process that died ends
 * with its last sign of life.
 */
export function picture({ picture: drawn, ranks, run, verdict }: RunReport): HTMLElement {
  const { from, to, funcs, files } = drawn;
  const time = (at: number): string => timeOfDay(run.traceStart, at);
  const stall = stallIn(verdict);
  const lastSigns = new Map(stall?.silent.map(({ file, lastSign }) => [file, lastSign ?? from]));
  const endOf = (file: number, end: number | null): number =>
    Math.min(to, end ?? Math.max(from, lastSigns.get(file) ?? to));
  const missing = run.missingRanks.slice(0, MOST_MISSING);
  const bar = (row: number, start: number, end: number, says: string) => ({
    x: [Math.max(from, start), end] as [number, number],
    y: String(row),
    says,
  });
  const ofFunc = (func: number, isOpen: boolean): Bars => ({
    label: shown(`${funcs[func]!}${isOpen ? ', had not ended' : ''}`),
    backgroundColor: (isOpen ? hatched : (ink: string) => ink)(inkOf(func)),
    data: files.flatMap(({ slices }, row) =>
      slices
        .filter(([, end, own]) => own === func && (end === null) === isOpen)
        .map(([start, end]) =>
          bar(
            row,
            start,
            endOf(row, end),
            `${shown(funcs[func]!)} at ${time(start)}, ${end === null ? 'had not ended' : duration(end - start)}`,
          ),
        ),
    ),
  });
  // Calls of NCCL's API that have not returned: at start-up there is no collective yet.
  const inside = (): Bars => ({
    label: 'inside a call of NCCL',
    backgroundColor: hatched(colour('func-six')),
    data: (stall?.inside ?? [])
      .filter(({ file }) => !files[file]?.slices.some(([, end]) => end === null))
      .map(({ file, at, func }) => bar(file, at, to, `in nccl${shown(func)} since ${time(at)}`)),
  });
  const silent = (): Bars => ({
    label: 'no sign of life',
    backgroundColor: colour('line'),
    data: [...lastSigns]
      .filter(([, at]) => at < to)
      .map(([file, at]) => bar(file, at, to, `no sign of life since ${time(at)}`)),
  });
  const unknown = (): Bars => ({
    label: 'no file: not known',
    backgroundColor: hatched(colour('line')),
    data: missing.map((_, i) => bar(ranks.length + i, from, to, 'there is no file')),
  });
  const isNotEmpty = ({ data }: Bars): boolean => data.length > 0;
  const all = (): Bars[] =>
    [
      ...funcs.flatMap((_, func) => [ofFunc(func, false), ofFunc(func, true)]),
      inside(),
      silent(),
      unknown(),
    ].filter(isNotEmpty);
  if (!all().some(({ data }) => data.some(({ y }) => Number(y) < ranks.length)))
    return h('p', { class: 'none' }, 'No collective was seen there.');
  const says = [...silent().data, ...inside().data].map(
    (one) => `${rankLabel(ranks[Number(one.y)]!.rank)}: ${one.says}`,
  );
  const chart = barChart({
    label: [
      'Collectives of all ranks around the moment',
      ...says,
      ...missing.map((rank) => `rank ${rank}: no file`),
    ].join('; '),
    ranks: [...ranks, ...missing.map((rank) => ({ rank, label: 'NO FILE' }))],
    ...{ from, to, areStacked: false },
    axis: timeAxis(run.traceStart, to - from),
    bars: all,
  });
  const isCut = files.some(({ more }) => more > 0);
  const others = run.missingRanks.length - missing.length;
  const legend = [
    ...(isCut ? ['The first 240 of each rank.'] : []),
    ...(others > 0 ? [`${others} more ranks have no file.`] : []),
  ].join(' ');
  return h('div', {}, chart, legend === '' ? null : h('p', { class: 'legend' }, legend));
}

function stallIn(verdict: RunReport['verdict']) {
  if (verdict.kind === 'hung') return verdict.hang;
  if (verdict.kind === 'broken') return verdict.broken.stall;
  return verdict.kind === 'waiting' ? verdict.waiting.stall : null;
}

const inkOf = (func: number): string => colour(`func-${FUNCTIONS[func % FUNCTIONS.length]!}`);

/** Stripes of a colour. */
function hatched(ink: string): CanvasPattern | string {
  const tile = h('canvas', { width: 6, height: 6 });
  const context = tile.getContext('2d')!;
  context.strokeStyle = ink;
  context.lineWidth = 2.5;
  for (const x of [-6, 0, 6]) {
    context.moveTo(x, 6);
    context.lineTo(x + 6, 0);
  }
  context.stroke();
  return context.createPattern(tile, 'repeat') ?? ink;
}

/** Rank by time: the mean time behind the first to arrive. */
export function heatMap({ lateness, ranks, run }: RunReport): HTMLElement {
  const { meanNs, bins, binNs } = lateness;
  const most = meanNs.flat().reduce<number>((a, b) => Math.max(a, b ?? 0), 0);
  // Square roots, so that a tenth of the maximum is still visible.
  const shadeOf = (mean: number): number => Math.round((SHADES - 1) * Math.sqrt(mean / Math.max(1, most)));
  const cells = meanNs.flatMap((row, file) =>
    row.flatMap((mean, bin) =>
      mean === null ? [] : [{ mean, bin, row: String(file), shade: shadeOf(mean) }],
    ),
  );
  // A set per shade: a colour for each of 100,000 cells would take seconds.
  const shade = (_: unknown, strength: number): Bars => ({
    label:
      strength === SHADES - 1
        ? `0 to ${duration(most)} behind the first to arrive; one column: ${duration(binNs)}`
        : '',
    backgroundColor: `${colour('heat')}${Math.round(18 + (237 * strength) / (SHADES - 1))
      .toString(16)
      .padStart(2, '0')}`,
    data: cells
      .filter((cell) => cell.shade === strength)
      .map(({ mean, bin, row }) => ({
        x: [bin * binNs, (bin + 1) * binNs],
        y: row,
        says: `${timeOfDay(run.traceStart, bin * binNs)}: ${duration(mean)} behind the first`,
      })),
  });
  return barChart({
    ...{ label: 'Lateness by rank and time', ranks, from: 0, to: bins * binNs, areStacked: false },
    axis: timeAxis(run.traceStart, bins * binNs),
    bars: () => Array.from({ length: SHADES }, shade),
  });
}

const WAITS = [
  ['gpu', 'GPU'],
  ['peer', 'room at the receiver'],
  ['send', 'the wire'],
  ['recv', "the peer's data"],
  ['flush', 'flush'],
] as const;

/** One bar a rank, as long as its transfers waited in all. */
export function waitBars({ ranks }: RunReport): HTMLElement {
  const total = ({ waits }: RunReport['ranks'][number]): number =>
    WAITS.reduce((sum, [key]) => sum + waits[key], 0);
  const most = ranks.reduce((longest, rank) => Math.max(longest, total(rank)), 1);
  return barChart({
    ...{ label: 'What the transfers of each rank waited for', ranks, from: 0, to: most, areStacked: true },
    axis: (at) => (at === 0 ? '0' : duration(at)),
    bars: () =>
      WAITS.map(([key, name]) => ({
        label: name,
        backgroundColor: colour(`wait-${key}`),
        data: ranks.map(({ waits }, row) => ({
          ...{ x: waits[key], y: String(row), says: `${name}: ${duration(waits[key])}` },
        })),
      })),
  });
}
