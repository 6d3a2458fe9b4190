/**
 * One training step on one screen: what each thread called, what the GPU ran, NCCL's kernels, what our recorder saw of the same time, and the
 * exposed spans as bands through all lanes. SVG, so the stylesheet has all colours. A line below says what is under the pointer, or
 * chosen by the arrow keys.
 */

import type { PageData } from '../page_data.js';
import { h, shown, svg } from './dom.js';
import { count, duration } from './format.js';
import { around, type Show } from './in_trace.js';

type Picture = PageData['pictures'][number];
type Lane = Picture['lanes'][number];
type Slice = Lane['slices'][number];

const ROW = 17;
const GAP = 7;
const AXIS = 22;
/** Part of the width: narrower slices have no text. */
const LEAST_TEXT = 0.045;

const WAITS = [
  ['GPU wait', 'gpu', 'the GPU'],
  ['peer wait', 'peer', 'room at the receiver'],
  ['send wait', 'send', 'the wire'],
  ['recv wait', 'recv', "the peer's data"],
  ['flush wait', 'flush', 'flush'],
] as const;

const percent = (part: number, whole: number): string =>
  whole > 0 ? `${((100 * part) / whole).toFixed(0)} %` : '0 %';

const titleOf = ({ rank, step, duration: long, exposed }: Picture): string =>
  `rank ${rank}, ${shown(step ?? 'whole file')}: ${percent(exposed, long)} exposed`;

/** The pictures, one at a time. */
export function stepPictures(pictures: PageData['pictures'], show: Show): HTMLElement | null {
  if (pictures.length === 0) return null;
  const place = h('div', {});
  const draw = (at: number): void => {
    place.replaceChildren(stepPicture(pictures[at]!, show));
  };
  draw(0);
  if (pictures.length === 1) return place;
  const select = h(
    'select',
    {
      'aria-label': 'Training step',
      onchange: () => {
        draw(select.selectedIndex);
      },
    },
    ...pictures.map((picture) => h('option', {}, titleOf(picture))),
  );
  return h('div', {}, h('p', { class: 'tools' }, select), place);
}

function stepPicture(picture: Picture, show: Show): HTMLElement {
  const { lanes, duration: long, exposed, nccl, start } = picture;
  const says = h('p', { class: 'says', role: 'status' }, HINT);
  const say = (text: string): void => {
    says.textContent = text;
  };
  const rows = lanes.flatMap((lane) => [
    h(
      'div',
      { class: `lane-name ${lane.kind}` },
      lane.kind === 'exposed' ? `exposed ${percent(exposed, long)}` : nameOf(lane),
    ),
    laneOf(lane, picture, say),
  ]);
  const open = h(
    'button',
    {
      type: 'button',
      class: 'small',
      title: 'Open the trace there',
      onclick: () => show?.(around(start, long)),
    },
    'Open',
  );
  const figures = `${titleOf(picture)}. NCCL ran ${duration(nccl)} of ${duration(long)}, and no other kernel covered ${duration(exposed)} of that.`;
  return h(
    'figure',
    { class: 'step' },
    h('figcaption', {}, figures, ' ', show ? open : null),
    h('div', { class: 'lanes' }, h('div', { class: 'lane-name' }), axis(long), ...rows),
    says,
    legend(picture),
  );
}

const HINT = 'Point at a slice, or choose a lane with Tab and a slice with the arrow keys.';

const nameOf = ({ kind, title }: Lane): string => (kind === 'network' ? `network ${title}` : shown(title));

function axis(long: number): SVGElement {
  const ticks = ticksOf(long);
  const texts = ticks.map((at) =>
    svg(
      'text',
      {
        x: share(at / long),
        y: AXIS - 8,
        class: 'tick',
        // The first and the last stay inside.
        'text-anchor': at === 0 ? 'start' : at > 0.95 * long ? 'end' : 'middle',
      },
      at === 0 ? '0' : duration(at),
    ),
  );
  return svg(
    'svg',
    { class: 'lane', height: AXIS, 'aria-hidden': 'true' },
    ...grid(long, AXIS - 5, AXIS),
    ...texts,
  );
}

const grid = (long: number, from: number, to: number): SVGElement[] =>
  ticksOf(long).map((at) =>
    svg('line', { class: 'grid', x1: share(at / long), x2: share(at / long), y1: from, y2: to }),
  );

/** At most 10, at round numbers. */
function ticksOf(long: number): number[] {
  const least = long / 9;
  const power = 10 ** Math.floor(Math.log10(least));
  const apart = power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
  return Array.from({ length: Math.floor(long / apart) + 1 }, (_, i) => i * apart);
}

const share = (part: number): string => `${(100 * part).toFixed(3)}%`;

function laneOf(lane: Lane, picture: Picture, say: (text: string) => void): SVGElement {
  const { duration: long, lanes } = picture;
  const height = lane.rows * ROW + GAP;
  const bands = (lanes.find(({ kind }) => kind === 'exposed')?.slices ?? []).map(([from, length]) =>
    svg('rect', { class: 'band', x: share(from / long), width: share(length / long), y: 0, height }),
  );
  const drawn = lane.slices.map((slice) => sliceOf(slice, lane, picture));
  const whole = `${nameOf(lane)}: ${count(lane.total)} ${lane.kind === 'network' ? 'transfers' : 'slices'}`;
  let chosen = -1;
  const choose = (next: number): void => {
    element.closest('.lanes')?.querySelector('.chosen')?.classList.remove('chosen');
    chosen = next;
    drawn[chosen]?.classList.add('chosen');
    say(chosen < 0 ? whole : textOf(lane.slices[chosen]!, lane, picture));
  };
  const element = svg(
    'svg',
    { class: 'lane', height, tabindex: 0, role: 'img', 'aria-label': whole },
    ...bands,
    ...grid(long, 0, height),
    ...drawn,
  );
  element.addEventListener('pointermove', ({ target }) => {
    const group = (target as Element).closest('.slice');
    const next = drawn.findIndex((one) => one === group);
    if (next < 0 || next !== chosen) choose(next);
  });
  element.addEventListener('pointerleave', () => {
    choose(-1);
    say(HINT);
  });
  element.addEventListener('focus', () => {
    choose(-1);
  });
  element.addEventListener('blur', () => {
    choose(-1);
    say(HINT);
  });
  element.addEventListener('keydown', (event) => {
    const to = { ArrowRight: chosen + 1, ArrowLeft: chosen - 1, Home: 0, End: drawn.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(Math.min(drawn.length - 1, Math.max(0, to)));
  });
  return element;
}

function sliceOf(slice: Slice, lane: Lane, picture: Picture): SVGElement {
  const [from, length, row, , joined] = slice;
  const { duration: long } = picture;
  const text = labelOf(slice, lane, picture);
  // A nested picture cuts its text off.
  return svg(
    'svg',
    {
      ...{
        class: `slice ${classOf(slice, lane, picture)}${joined > 1 ? ' joined' : ''}`,
        overflow: 'hidden',
      },
      ...{
        x: share(from / long),
        y: row * ROW + GAP / 2,
        width: share(Math.max(length / long, 0.001)),
        height: ROW - 1,
      },
    },
    svg('rect', { width: '100%', height: '100%', rx: 1.5 }),
    length / long < LEAST_TEXT || text === '' ? null : svg('text', { x: 4, y: ROW - 5 }, text),
  );
}

function labelOf(slice: Slice, { kind }: Lane, { names }: Picture): string {
  const [, length, , name, joined] = slice;
  if (kind === 'network') return '';
  if (kind === 'exposed') return duration(length);
  return joined > 1 ? `${count(joined)} short ones` : shown(names[name]!);
}

function classOf([, , , name]: Slice, { kind }: Lane, { names }: Picture): string {
  const wait = kind === 'network' ? WAITS.find(([own]) => own === names[name]) : undefined;
  return wait === undefined ? kind : `wait-${wait[1]}`;
}

/** The line below the picture. */
function textOf(slice: Slice, lane: Lane, { names }: Picture): string {
  const [from, length, , name, joined] = slice;
  const time = `${duration(length)} from ${from === 0 ? '0' : duration(from)} on`;
  if (lane.kind === 'network') {
    const waits = WAITS.find(([own]) => own === names[name])?.[2] ?? 'nothing yet';
    return `${nameOf(lane)}: transfers wait for ${waits} most of the time, ${time}`;
  }
  const what =
    joined > 1 ? `${count(joined)} short ones, the first ${shown(names[name]!)}` : shown(names[name]!);
  return `${nameOf(lane)}: ${what}, ${time}`;
}

function legend(picture: Picture): HTMLElement {
  const { lanes, names, shortest, leftOut, tool } = picture;
  const seen = new Set(
    lanes
      .filter(({ kind }) => kind === 'network')
      .flatMap(({ slices }) => slices.map(([, , , name]) => names[name]!)),
  );
  const key = (className: string, text: string): HTMLElement =>
    h('span', { class: `key ${className}` }, h('i', { 'aria-hidden': 'true' }), text);
  const waits = WAITS.filter(([wait]) => seen.has(wait)).map(([, name, what]) => key(`wait-${name}`, what));
  const notes = [
    `Calls and kernels as ${tool} recorded them, NCCL’s operations and the network by nccl-trace.`,
    `Slices shorter than ${duration(shortest)} are joined with their neighbours.`,
    ...Object.entries(leftOut).map(([what, times]) => `Not drawn: ${count(times)} ${what}.`),
  ];
  return h(
    'div',
    { class: 'legend' },
    h(
      'p',
      {},
      key('exposed', 'exposed: NCCL runs, and no other kernel'),
      ...(waits.length === 0 ? [] : ['Transfers wait most for: ', ...waits]),
    ),
    h('p', {}, notes.join(' ')),
  );
}
