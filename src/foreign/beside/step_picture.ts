/**
 * One training step for a picture: what its threads called, what the GPU ran, what NCCL was asked for, and which of NCCL's time is exposed. A step
 * may have 100,000 operators, so the picture keeps what is visible on a page: what is too short for a pixel is joined with its neighbours
 * and counted, and so is what has no lane.
 */

import type { Study } from '../../study/study.js';
import type { Admitted } from './door.js';
import { exposedSpans } from './exposed.js';
import type { ForeignStep, ForeignTrace } from './foreign_trace.js';
import { joined, stacked, type Span, type Stack } from './joined_spans.js';
import { exposedIn, spansOf, type ExposedStep } from './training_steps.js';

/** Times in ns from the step's start. */
export interface StepPicture extends ExposedStep {
  /** The file in the run. */
  readonly file: number;
  readonly tool: string;
  readonly lanes: readonly StepLane[];
  readonly names: readonly string[];
  /** Slices shorter than this are joined with their neighbours. */
  readonly shortest: number;
  /** How many slices of the step have no lane, by what they are. */
  readonly leftOut: Readonly<Record<string, number>>;
}

export interface StepLane {
  /** `works`: NCCL's collectives, sends and receives as we recorded them. `network`: what most transfers to or from a rank waited for. */
  readonly kind: 'exposed' | 'operators' | 'compute' | 'nccl' | 'works' | 'network';
  readonly title: string;
  readonly rows: number;
  /** How many slices or transfers are in it, those that are joined too. */
  readonly total: number;
  readonly slices: readonly StepSlice[];
}

/** `name`: into the picture's names. `count`: how many slices are joined in it. */
export type StepSlice = readonly [from: number, length: number, row: number, name: number, count: number];

/** As many pixels as a page has for them. */
const MOST_COLUMNS = 800;
const LEAST_COLUMNS = 50;
/** They make a picture of about 100 kB. */
const MOST_SLICES = 4000;
const MOST_THREADS = 3;
const MOST_ROWS: Readonly<Record<StepLane['kind'], number>> = {
  ...{ exposed: 1, operators: 6, compute: 3, nccl: 3, works: 4, network: 1 },
};
const MOST_NAME = 100;

/** The step with the largest exposed share; null: the file has no kernel of NCCL. */
export function worstPicture(trace: ForeignTrace, admitted: Admitted, study: Study): StepPicture | null {
  const [whole, ...steps] = exposedIn(trace, admitted);
  if (whole === undefined) return null;
  if (steps.length === 0)
    return pictureOf(trace, admitted, study, whole, { name: '', start: trace.span.from, end: trace.span.to });
  const worst = steps.reduce(
    (most, step, i) => (exposedShare(step) > exposedShare(steps[most]!) ? i : most),
    0,
  );
  const { duration } = steps[worst]!;
  return duration > 0 ? pictureOf(trace, admitted, study, steps[worst]!, trace.steps[worst]!) : null;
}

export const exposedShare = ({ exposed, duration }: ExposedStep): number =>
  duration > 0 ? exposed / duration : 0;

interface RawLane extends Omit<StepLane, 'slices' | 'rows' | 'total'> {
  readonly stack: Stack;
  readonly nameOf: (id: number) => string;
}

function pictureOf(
  trace: ForeignTrace,
  admitted: Admitted,
  study: Study,
  step: ExposedStep,
  { start, end }: ForeignStep,
): StepPicture {
  const leftOut = new Map<string, number>();
  const leave = (what: string, count: number): void => {
    if (count > 0) leftOut.set(what, (leftOut.get(what) ?? 0) + count);
  };
  const lanes = [
    exposedLane(trace, start, end),
    ...foreignLanes(trace, start, end, leave),
    worksLane(admitted, study, step),
  ].filter(({ stack }) => stack.spans.length > 0);
  for (const { kind, stack } of lanes)
    leave(`${LEFT_OUT[kind]} below ${MOST_ROWS[kind]} rows`, stack.tooDeep);
  const { duration } = step;
  for (let columns = MOST_COLUMNS; ; columns /= 2) {
    const shortest = duration / columns;
    const drawn = drawLanes(lanes, duration, shortest);
    const slices = drawn.lanes.reduce((sum, lane) => sum + lane.slices.length, 0);
    if (slices <= MOST_SLICES || columns <= LEAST_COLUMNS)
      return {
        ...step,
        ...{ file: admitted.file, tool: trace.tool, ...drawn, shortest: Math.round(shortest) },
        leftOut: Object.fromEntries(leftOut),
      };
  }
}

const LEFT_OUT: Readonly<Record<StepLane['kind'], string>> = {
  exposed: 'exposed spans',
  operators: 'calls',
  compute: 'kernels',
  nccl: 'kernels of NCCL',
  works: 'operations of NCCL',
  network: 'transfers',
};

const laneOf = (
  kind: StepLane['kind'],
  title: string,
  spans: readonly Span[],
  nameOf: (id: number) => string,
): RawLane => ({ kind, title, nameOf, stack: stacked(spans, MOST_ROWS[kind]) });

function exposedLane(trace: ForeignTrace, from: number, to: number): RawLane {
  const ends = exposedSpans(spansOf(trace, 'nccl'), spansOf(trace, 'compute'), from, to);
  const spans = Array.from({ length: ends.length / 2 }, (_, i): Span => ({
    ...{ id: i, from: ends[2 * i]! - from, to: ends[2 * i + 1]! - from },
  }));
  return laneOf('exposed', 'exposed', spans, () => 'exposed');
}

/** Threads, and kernels on the GPU. */
function foreignLanes(
  trace: ForeignTrace,
  from: number,
  to: number,
  leave: (what: string, count: number) => void,
): RawLane[] {
  const { events, gpu, tracks } = trace;
  const nccl = new Map(
    trace.kernels.map(({ row, func, type }) => [
      row,
      [func ?? 'several operations', type].filter(Boolean).join(' '),
    ]),
  );
  const compute = new Set(gpu.compute.filter((row) => events.start(row) < to));
  const kernels = { nccl: [] as Span[], compute: [] as Span[] };
  const threads: { readonly lane: RawLane; readonly order: number }[] = [];
  const spanOf = (id: number): Span => {
    const start = events.start(id) - from;
    return { id, from: start, to: start + events.duration(id) };
  };
  const nameOf = (row: number): string => trace.shown(JSON.parse(events.text(row)), () => undefined);
  for (const [number, rows] of events.within(from, to)) {
    const { title, isOnGpu, order } = tracks[number]!;
    const spans = Array.from(rows, spanOf);
    if (!isOnGpu) {
      // What reaches over the whole step says nothing about it: the step itself, the function that trains.
      const inside = spans.filter((span) => span.from > 0 || span.to < to - from);
      threads.push({ lane: laneOf('operators', title, inside, nameOf), order });
      continue;
    }
    for (const span of spans) {
      if (nccl.has(span.id)) kernels.nccl.push(span);
      else if (compute.has(span.id)) kernels.compute.push(span);
      else leave('copies and others on the GPU', 1);
    }
  }
  const busiest = [...threads].sort((a, b) => b.lane.stack.busy - a.lane.stack.busy);
  for (const { lane } of busiest.slice(MOST_THREADS))
    leave('calls of further threads', lane.stack.spans.length);
  const inOrder = busiest.slice(0, MOST_THREADS).sort((a, b) => a.order - b.order);
  return [
    ...inOrder.map(({ lane }) => lane),
    laneOf('compute', 'compute kernels', kernels.compute, nameOf),
    laneOf('nccl', 'NCCL kernels', kernels.nccl, (row) => nccl.get(row)!),
  ];
}

/** What our recorder saw of the same process: from the call to the end, where it is known. */
function worksLane({ file, works: { by, works } }: Admitted, { run }: Study, step: ExposedStep): RawLane {
  const { works: table, communicators } = run.members[file]!.scan;
  const names = new Map(communicators.map(({ number, name }) => [number, name]));
  const spans = works.flatMap(({ row, called, at }): Span[] => {
    const [from, to] = [called - step.start, Math.max(called, at) - step.start];
    return from < step.duration && to > 0 ? [{ id: row, from, to }] : [];
  });
  const nameOf = (row: number): string => {
    const func = table.funcs[table.func[row]!]!;
    const seq = table.seq[row]!;
    const comm = names.get(table.comm[row]!) ?? '';
    return [func, ...(seq < 0 ? [] : [`seq ${seq}`]), ...(comm === '' ? [] : [`on ${comm}`])].join(' ');
  };
  return laneOf('works', by === 'end' ? 'NCCL operations' : 'NCCL calls', spans, nameOf);
}

function drawLanes(
  raw: readonly RawLane[],
  duration: number,
  shortest: number,
): Pick<StepPicture, 'lanes' | 'names'> {
  const places = new Map<string, number>();
  const place = (name: string): number => {
    const short = name.length > MOST_NAME ? `${name.slice(0, MOST_NAME - 1)}…` : name;
    if (!places.has(short)) places.set(short, places.size);
    return places.get(short)!;
  };
  const lanes = raw.map(({ kind, title, stack, nameOf }): StepLane => ({
    ...{ kind, title, rows: stack.rows, total: stack.spans.length - stack.tooDeep },
    slices: joined(stack, duration, shortest).map(({ from, to, row, id, count }): StepSlice => [
      Math.round(from),
      Math.round(to - from),
      row,
      place(nameOf(id)),
      count,
    ]),
  }));
  return { lanes, names: [...places.keys()] };
}

/** Of many files: those with the largest exposed share. */
export function worstPictures(pictures: readonly StepPicture[], most: number): StepPicture[] {
  return [...pictures].sort((a, b) => exposedShare(b) - exposedShare(a)).slice(0, most);
}
