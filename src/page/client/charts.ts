/** The pictures: all ranks around the moment, lateness by rank and time, and where each rank's step time went. */

import type { RunReport } from '../../report/run_report.js';
import { canvas, colour, h, shown } from './dom.js';
import { duration, niceStep, timeOfDay } from './format.js';

const LABEL = 74;
const AXIS = 22;
const FUNCTIONS = ['one', 'two', 'three', 'four', 'five', 'six'];

const rowHeight = (rows: number): number => (rows > 96 ? 5 : rows > 40 ? 9 : 16);

export const rankLabel = (rank: number | string | null): string => (rank === null ? '?' : `rank ${rank}`);

/** Every rank's collectives around the moment: a hang is where the bars run to the edge, a straggler the one that begins last. */
export function picture(report: RunReport): HTMLElement {
  const { picture: drawn, ranks, run } = report;
  const height = rowHeight(ranks.length);
  const total = AXIS + ranks.length * height + 4;
  const inkOf = (func: number): string => colour(`func-${FUNCTIONS[func % FUNCTIONS.length]!}`);
  const element = canvas('Collectives of all ranks around the moment', total, (context, width) => {
    const x = (at: number): number => LABEL + ((at - drawn.from) / (drawn.to - drawn.from)) * (width - LABEL);
    axis(context, width, total, drawn.from, drawn.to, (at) =>
      timeOfDay(run.traceStart, at, drawn.to - drawn.from < 20e9),
    );
    ranks.forEach(({ rank, label }, file) => {
      const y = AXIS + file * height;
      rowLabel(context, rankLabel(rank), y, height, label !== null, file, ranks.length);
      for (const [from, to, func] of drawn.files[file]!.slices) {
        const left = Math.max(LABEL, x(from));
        const right = to === null ? width : Math.min(width, x(to));
        context.fillStyle = inkOf(func);
        context.globalAlpha = to === null ? 0.45 : 0.9;
        context.fillRect(left, y + 1, Math.max(1, right - left), height - 2);
        context.globalAlpha = 1;
        if (to === null) hatch(context, left, y + 1, right - left, height - 2);
      }
    });
  });
  const legend = h(
    'p',
    { class: 'legend' },
    ...drawn.funcs.map((func, i) => swatch(`func-${FUNCTIONS[i % FUNCTIONS.length]!}`, func)),
    drawn.files.some(({ slices }) => slices.some(([, to]) => to === null))
      ? h('span', { class: 'key' }, h('i', { class: 'swatch hatched' }), 'had not ended')
      : null,
    drawn.files.some(({ more }) => more > 0)
      ? h('span', { class: 'key' }, 'the first 240 of each rank')
      : null,
  );
  return h('div', {}, element, legend);
}

/** Rank by time: the mean time behind the first to arrive. */
export function heatMap({ lateness, ranks, run }: RunReport): HTMLElement {
  const { meanNs, bins, binNs } = lateness;
  const height = rowHeight(ranks.length);
  const total = AXIS + ranks.length * height + 4;
  const most = meanNs.flat().reduce<number>((a, b) => Math.max(a, b ?? 0), 0);
  const element = canvas('Lateness by rank and time', total, (context, width) => {
    const cell = (width - LABEL) / bins;
    axis(context, width, total, 0, bins * binNs, (at) => timeOfDay(run.traceStart, at, bins * binNs < 20e9));
    meanNs.forEach((row, file) => {
      const y = AXIS + file * height;
      rowLabel(
        context,
        rankLabel(ranks[file]!.rank),
        y,
        height,
        ranks[file]!.label !== null,
        file,
        ranks.length,
      );
      row.forEach((mean, bin) => {
        context.fillStyle = mean === null ? colour('faint') : colour('heat');
        // Square roots, so that a tenth of the maximum is still visible.
        context.globalAlpha = mean === null ? 0.5 : 0.07 + 0.93 * Math.sqrt(mean / Math.max(1, most));
        context.fillRect(LABEL + bin * cell, y + 0.5, cell - 0.5, height - 1);
      });
      context.globalAlpha = 1;
    });
  });
  const title = (event: MouseEvent): void => {
    const box = element.getBoundingClientRect();
    const bin = Math.floor(((event.clientX - box.left - LABEL) / (box.width - LABEL)) * bins);
    const file = Math.floor((event.clientY - box.top - AXIS) / height);
    const mean = meanNs[file]?.[bin];
    element.title =
      mean === undefined || mean === null
        ? ''
        : `${rankLabel(ranks[file]!.rank)}, ${timeOfDay(run.traceStart, bin * binNs)}: ${duration(mean)} behind the first`;
  };
  element.addEventListener('mousemove', title);
  return h(
    'div',
    {},
    element,
    h(
      'p',
      { class: 'legend' },
      h(
        'span',
        { class: 'key' },
        h('i', { class: 'ramp' }),
        `0 to ${duration(most)} behind the first to arrive`,
      ),
      h('span', { class: 'key' }, `one column: ${duration(binNs)}`),
    ),
  );
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
  const total = (file: number): number => WAITS.reduce((sum, [key]) => sum + ranks[file]!.waits[key], 0);
  const most = ranks.reduce((longest, _, file) => Math.max(longest, total(file)), 1);
  const height = rowHeight(ranks.length);
  const right = 70;
  const element = canvas(
    'What the transfers of each rank waited for',
    ranks.length * height + 4,
    (context, width) => {
      const scale = (width - LABEL - right) / most;
      ranks.forEach(({ rank, waits, label }, file) => {
        const y = file * height;
        rowLabel(context, rankLabel(rank), y, height, label !== null, file, ranks.length);
        let x = LABEL;
        for (const [key] of WAITS) {
          const length = waits[key] * scale;
          context.fillStyle = colour(`wait-${key}`);
          context.fillRect(x, y + 1, length, height - 2);
          x += length;
        }
        if (height < 9) return;
        context.fillStyle = colour('soft');
        context.fillText(duration(total(file)), x + 6, y + height / 2);
      });
    },
  );
  return h(
    'div',
    {},
    element,
    h('p', { class: 'legend' }, ...WAITS.map(([key, name]) => swatch(`wait-${key}`, name))),
  );
}

function swatch(name: string, text: string): HTMLElement {
  return h('span', { class: 'key' }, h('i', { class: `swatch ${name}` }), shown(text));
}

function axis(
  context: CanvasRenderingContext2D,
  width: number,
  height: number,
  from: number,
  to: number,
  text: (at: number) => string,
): void {
  const step = niceStep(to - from, Math.max(2, (width - LABEL) / 130));
  context.strokeStyle = colour('line');
  context.fillStyle = colour('soft');
  context.textAlign = 'left';
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const x = Math.round(LABEL + ((at - from) / (to - from)) * (width - LABEL)) + 0.5;
    context.beginPath();
    context.moveTo(x, AXIS - 6);
    context.lineTo(x, height);
    context.stroke();
    const shown = text(at);
    if (x + context.measureText(shown).width < width) context.fillText(shown, x + 3, 8);
  }
}

function rowLabel(
  context: CanvasRenderingContext2D,
  text: string,
  y: number,
  height: number,
  isAccused: boolean,
  row: number,
  rows: number,
): void {
  const every = height >= 14 ? 1 : Math.max(1, Math.ceil(14 / height));
  if (row % every !== 0 && !isAccused) return;
  if (!isAccused && rows > 40 && height < 9 && row % (2 * every) !== 0) return;
  context.textAlign = 'right';
  context.fillStyle = isAccused ? colour('verdict') : colour('soft');
  context.fillText(shown(text).slice(0, 12), LABEL - 8, y + height / 2 + 0.5);
  context.textAlign = 'left';
}

function hatch(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = colour('paper');
  context.beginPath();
  for (let at = x - height; at < x + width; at += 6) {
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
  }
  context.stroke();
  context.restore();
}
