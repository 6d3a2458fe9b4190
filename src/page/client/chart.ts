/**
 * A horizontal bar chart with a row per rank, drawn by Chart.js. A bar goes from one time to another, or bars add up. The chart is drawn
 * again when the colours change between light and dark. Ranks that the verdict names are always labelled, in the verdict's colour.
 */

import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  Legend,
  LinearScale,
  Tooltip,
  type ChartDataset,
} from 'chart.js';
import { colour, h, shown } from './dom.js';

Chart.register(BarController, BarElement, CategoryScale, Legend, LinearScale, Tooltip);

export interface Bar {
  /** From, to; or the length. */
  readonly x: [number, number] | number;
  /** The row, as text. */
  readonly y: string;
  /** The text that appears when the mouse pointer is on the bar. */
  readonly says: string;
}
export type Bars = ChartDataset<'bar', Bar[]>;

export interface BarChart {
  readonly label: string;
  readonly ranks: readonly { readonly rank: number | string | null; readonly label: string | null }[];
  readonly from: number;
  readonly to: number;
  readonly axis: (at: number) => string;
  readonly areStacked: boolean;
  /** Called again if the colours change. */
  readonly bars: () => Bars[];
}

/** Pixels for an axis with text of 11 pixels, and a legend. */
const AXIS = 84;
const LEAST_TEXT = 14;

export const rankLabel = (rank: number | string | null): string => (rank === null ? '?' : `rank ${rank}`);

/** "rank 3 SILENT" */
const rowLabel = ({ rank, label }: BarChart['ranks'][number]): string =>
  `${shown(rankLabel(rank)).slice(0, 12)}${label === null ? '' : ` ${label}`}`;

export function barChart(chart: BarChart): HTMLElement {
  const canvas = h('canvas', { role: 'img', 'aria-label': chart.label });
  const box = h('div', { class: 'chart' }, canvas);
  const rows = chart.ranks.length;
  const height = rows > 96 ? 5 : rows > 40 ? 9 : 16;
  box.style.height = `${AXIS + rows * height}px`;
  let drawn: Chart<'bar', Bar[]> | null = null;
  const draw = (): void => {
    drawn?.destroy();
    drawn = drawOn(canvas, chart, Math.ceil(LEAST_TEXT / height));
  };
  // Not before it is in the page: until then it has no width.
  requestAnimationFrame(draw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  return box;
}

function drawOn(canvas: HTMLCanvasElement, chart: BarChart, every: number): Chart<'bar', Bar[]> {
  const { ranks, from, to, axis, areStacked, bars } = chart;
  const [line, soft, verdict] = ['line', 'soft', 'verdict'].map(colour) as [string, string, string];
  const isNamed = (row: number): boolean => ranks[row]?.label !== null;
  const datasets = bars();
  // Sets without a name are shades of one.
  const areKinds = datasets.every(({ label }) => label !== '');
  return new Chart<'bar', Bar[]>(canvas, {
    type: 'bar',
    data: { labels: ranks.map((_, row) => String(row)), datasets },
    options: {
      indexAxis: 'y',
      animation: false,
      maintainAspectRatio: false,
      font: { size: 11, family: getComputedStyle(document.body).fontFamily },
      datasets: { bar: { grouped: areStacked, barPercentage: 0.9, categoryPercentage: 1, minBarLength: 1 } },
      scales: {
        x: {
          ...{ position: 'top', min: from, max: to, stacked: areStacked, grid: { color: line } },
          ticks: {
            ...{ color: soft, maxRotation: 0, autoSkipPadding: 24, includeBounds: false },
            callback: (at) => axis(Number(at)),
          },
        },
        y: {
          ...{ stacked: areStacked, grid: { display: false } },
          ticks: {
            ...{ autoSkip: false, crossAlign: 'far' },
            color: ({ index }) => (isNamed(index) ? verdict : soft),
            callback: (_, row) => (row % every === 0 || isNamed(row) ? rowLabel(ranks[row]!) : ''),
          },
        },
      },
      plugins: {
        legend: {
          ...{ position: 'bottom', align: 'start' },
          ...(areKinds ? {} : { onClick: () => undefined }),
          labels: { color: soft, boxWidth: 11, boxHeight: 11, filter: ({ text }) => text !== '' },
        },
        tooltip: {
          callbacks: {
            title: (items) =>
              items.slice(0, 1).map(({ raw }) => rankLabel(ranks[Number((raw as Bar).y)]!.rank)),
            label: ({ raw }) => (raw as Bar).says,
          },
        },
      },
    },
  });
}
