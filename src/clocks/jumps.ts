/**
 * Finds counters that jumped, for example of a virtual machine that was stopped or moved. All links of such a host step at one moment:
 * messages to the host take longer by the jump, messages from it take less. All bounds assume that rates of clocks change no faster than
 * declared, and this tests the assumption. It needs no estimate of clocks, because a step in a line shows at any slope of the line.
 */

import { addTo } from '../base/grouped.js';
import { firstIndex } from '../base/first_index.js';
import { median } from '../base/median.js';
import { isWire, wireOf } from './evidence.js';
import { FLOOR_SIGMA_NS, type Link } from './links.js';
import { stepsOf, type Steps, type StepSearch } from './delay_steps.js';

export interface Jump {
  readonly clock: number;
  /** The jump may be of this host's clock instead, in the other direction, because the two have only each other as peers. */
  readonly other: number | null;
  /** It jumped between these two times, by its own clock. */
  readonly from: number;
  readonly to: number;
  /** Against the others, ns. */
  readonly jump: number;
  /** Its size, as a multiple of the smallest jump that would be seen. */
  readonly clearness: number;
}

/** A link as one of its ends sees it, by that end's own time: delays to the end, and negated delays from it. A jump raises both. */
interface View {
  readonly link: Link;
  readonly inward: boolean;
  readonly times: Float64Array;
  readonly steps: Steps;
  /** Least scatter of one of its minima, ns. */
  readonly scatter: number;
}

/** What one link, or several links together, show of a jump at some moment. */
interface Step {
  readonly step: number;
  /** Standard error, and the largest step that declared bends can add. */
  readonly error: number;
  readonly bend: number;
  /** The part of the error that is not scatter: the error if minima scattered by 1 ns. */
  readonly gain: number;
}

/**
 * A step of at least this many standard errors cannot be scatter. The number is large, because scatter could look like a step at thousands
 * of places.
 */
const CLEAR = 7;
/** The same limit for a host that pairs contradict, because something happened to its clock. */
const CLEAR_OF_SUSPECT = 3.5;
/** Messages per minimum, so that one of them hardly waited. Near an end of the run each message of a suspect counts. */
const PAIRS = 5;
/** Links with fewer messages have minima of fewer messages. Otherwise nothing would say how large a jump of theirs stays unseen. */
const FEW_MINIMA = 8;
/** One link may differ from what all links show by this many standard errors, or by this part of the step. */
const AGREES = 4;
const AGREES_PART = 0.3;
/** ns: a smaller step is no jump, because wires and programs cause as much. */
const LEAST_JUMP_NS = 2000;
/** Limits: places where a clock may have jumped, and minima in all, that are examined. */
const MOST_PLACES = 512;
const MOST_MINIMA = 60_000;
const LEAST_PER_LINK = 24;

export interface JumpsSeen {
  /** The clearest; null: none. */
  readonly jump: Jump | null;
  /** Per clock, ns: a jump smaller than this would not have been seen in half of the places. null: no jump would have been seen. */
  readonly tooSmall: readonly (number | null)[];
}

/** `curvature`: most that one clock's rate changes, 1/ns. */
export function findJump(clocks: number, links: readonly Link[], curvature: number): JumpsSeen {
  return search(clocks, links, curvature, { pairs: PAIRS, leastMinima: FEW_MINIMA, clear: CLEAR });
}

/** A jump of one of the `suspects`: pairs contradict one of these clocks. */
export function findJumpOf(
  suspects: readonly number[],
  clocks: number,
  links: readonly Link[],
  curvature: number,
): Jump | null {
  const found = (pairs: number, clear: number): Jump | null =>
    search(clocks, links, curvature, { pairs, leastMinima: 0, clear, suspects }).jump;
  const few = found(PAIRS, CLEAR_OF_SUSPECT);
  // Messages one by one scatter more wildly than the least of several.
  const each = found(1, CLEAR);
  if (!few || !each) return few ?? each ?? null;
  return few.clearness >= each.clearness ? few : each;
}

interface Search extends Pick<StepSearch, 'pairs' | 'leastMinima' | 'clear'> {
  /** No other clock is examined. */
  readonly suspects?: readonly number[];
}

function search(
  clocks: number,
  links: readonly Link[],
  curvature: number,
  { pairs, leastMinima, clear, suspects }: Search,
): JumpsSeen {
  const wires = links.filter(({ edge }) => isWire(edge));
  const mayHave = (clock: number): boolean => suspects?.includes(clock) ?? true;
  const most = Math.max(LEAST_PER_LINK, MOST_MINIMA / Math.max(1, wires.length));
  const views = Array.from({ length: clocks }, (): View[] => []);
  const examined = wires.filter(({ edge }) => mayHave(edge.from) || mayHave(edge.to));
  const all = examined.map((link) =>
    stepsOf(link, { pairs, leastMinima, most, curvature: 2 * curvature, clear }),
  );
  const usual = usualScatters(examined, all);
  examined.forEach((link, i) => {
    const steps = all[i]!;
    const scatter = Math.max(FLOOR_SIGMA_NS, steps.usual, usual.get(link.like)!);
    const { times, delays } = steps;
    views[link.edge.from]!.push({ link, inward: false, times, steps, scatter });
    const shown = times.map((time, i) => time + delays[i]!);
    views[link.edge.to]!.push({ link, inward: true, times: shown, steps, scatter });
  });
  const tooSmall: (number | null)[] = [];
  const found = views.flatMap((view, clock) => {
    const places = (mayHave(clock) ? placesOf(view) : []).flatMap(
      (at) => placeAt(view, at, 2 * curvature, clear) ?? [],
    );
    const least = leastJumps(places, clear);
    tooSmall.push(median([...least]) ?? null);
    let clearest: (Place & { clearness: number }) | null = null;
    for (const [i, place] of places.entries()) {
      const clearness = Math.abs(place.jump) / least[i]!;
      if (place.isJump && clearness > (clearest?.clearness ?? 1)) clearest = { ...place, clearness };
    }
    return clearest === null ? [] : [{ ...clearest, clock }];
  });
  const largest = found.reduce((size, { jump }) => Math.max(size, Math.abs(jump)), 0);
  // A host with one peer sees each jump of that peer on all its links.
  const [first] = found
    .filter(({ jump }) => Math.abs(jump) >= largest / 2)
    .sort((a, b) => b.peers - a.peers || b.clearness - a.clearness);
  if (!first) return { jump: null, tooSmall };
  const { clock, at, jump, clearness } = first;
  const other = onlyPeer(wires, clock);
  return { jump: { clock, other, ...narrowed(views[clock]!, at, jump), jump, clearness }, tooSmall };
}

/** The median scatter of the links of each likeness. */
function usualScatters(wires: readonly Link[], all: readonly Steps[]): Map<number, number> {
  const known = new Map<number, number[]>();
  wires.forEach(({ like }, i) => {
    addTo(known, like, all[i]!.usual);
  });
  return new Map([...known].map(([like, scatters]) => [like, median(scatters)!]));
}

/**
 * Times between two minima, by the clock's own time. If there are too many, the widest gaps are taken. If no link has messages for a while,
 * only a place in that pause has all minima on the correct sides.
 */
function placesOf(view: readonly View[]): number[] {
  if (!view.some(({ inward }) => inward) || view.every(({ inward }) => inward)) return [];
  const times = Float64Array.from(view.flatMap(({ times }) => [...times])).sort();
  const stride = Math.ceil(times.length / MOST_PLACES);
  const places: number[] = [];
  for (let first = 1; first < times.length; first += stride) {
    let widest = first;
    for (let i = first; i < Math.min(first + stride, times.length); i++)
      if (times[i]! - times[i - 1]! > times[widest]! - times[widest - 1]!) widest = i;
    places.push((times[widest - 1]! + times[widest]!) / 2);
  }
  return places;
}

/** Where a clock may have jumped. */
interface Place {
  readonly at: number;
  /** When the minima before and after it were sent that were compared. */
  readonly from: number;
  readonly to: number;
  readonly jump: number;
  /** Standard error of the jump, ns. */
  readonly error: number;
  /** How large a jump bends can make, ns. */
  readonly bend: number;
  /** The error if minima scattered by 1 ns. */
  readonly gain: number;
  /** Half of the distance between what both directions show. A jump shows in both of them equally. */
  readonly apart: number;
  /** The jump is clear, and all links agree, in both directions. */
  readonly isJump: boolean;
  /** Clocks that it shows against. */
  readonly peers: number;
}

/** null: there are too few messages nearby in one direction. */
function placeAt(view: readonly View[], at: number, curvature: number, clear: number): Place | null {
  const sides = { in: new Mean(), out: new Mean(), both: new Mean() };
  const seen: Step[] = [];
  const peers = new Set<number>();
  let [from, to] = [at, at];
  for (const { link, inward, times, steps, scatter } of view) {
    const i = indexBehind(times, at);
    if (i === times.length || steps.gain[i] === 0) continue;
    const step = {
      step: (inward ? 1 : -1) * steps.step[i]!,
      error: Math.max(scatter, steps.scatter[i]!) * steps.gain[i]!,
      bend: curvature * steps.bend[i]!,
      gain: steps.gain[i]!,
    };
    seen.push(step);
    from = Math.min(from, times[Math.max(0, i - steps.beside)]!);
    to = Math.max(to, times[Math.min(times.length, i + steps.beside) - 1]!);
    peers.add(inward ? link.edge.from : link.edge.to);
    sides.both.add(step);
    (inward ? sides.in : sides.out).add(step);
  }
  if (sides.in.isEmpty || sides.out.isEmpty) return null;
  const { step: jump } = sides.both;
  // Both directions must show it. In one direction, messages that wait look like a step.
  const error = Math.hypot(sides.in.error, sides.out.error) / 2;
  const bend = (sides.in.bend + sides.out.bend) / 2;
  const agrees = (one: Step): boolean =>
    Math.abs(one.step - jump) <= Math.max(AGREES_PART * Math.abs(jump), AGREES * one.error + one.bend);
  const isSide = (side: Step): boolean =>
    agrees(side) && side.step * Math.sign(jump) >= AGREES_PART * Math.abs(jump);
  const isClear = Math.abs(jump) > leastJump({ error, bend }, clear);
  const isJump = isClear && isSide(sides.in) && isSide(sides.out) && seen.every(agrees);
  const apart = (sides.in.step - sides.out.step) / 2;
  const gain = Math.hypot(sides.in.gain, sides.out.gain) / 2;
  return { at, from, to, jump, error, bend, gain, apart, isJump, peers: peers.size };
}

const leastJump = ({ error, bend }: Pick<Place, 'error' | 'bend'>, clear: number): number =>
  clear * error + bend + LEAST_JUMP_NS;

/**
 * By place: a smaller jump would not be seen, ns. Messages may wait either hardly or long. Then most minima scatter little, but several in
 * a row may have waited long, which looks like a step of one link. So minima scatter at least as much as both directions differ elsewhere,
 * where no jump was seen.
 */
function leastJumps(places: readonly Place[], clear: number): Float64Array {
  const jumps = places.filter(({ isJump }) => isJump);
  const quiet = places.filter(({ from, to }) => !jumps.some(({ at }) => from < at && at < to));
  const squares = quiet.reduce((sum, { apart, gain }) => sum + (apart / gain) ** 2, 0);
  const scatter = quiet.length < LEAST_QUIET ? 0 : Math.sqrt(squares / quiet.length);
  return Float64Array.from(places, ({ error, bend, gain }) =>
    leastJump({ error: Math.max(error, scatter * gain), bend }, clear),
  );
}

/** Fewer places show no usual distance. */
const LEAST_QUIET = 8;

/** The first that is later than `at`. */
const indexBehind = (times: Float64Array, at: number): number =>
  firstIndex(times.length, (i) => times[i]! > at);

class Mean implements Step {
  private weights = 0;
  private sum = 0;
  private errors = 0;
  private bends = 0;
  private gains = 0;

  add({ step, error, bend, gain }: Step): void {
    const weight = 1 / (error * error + bend * bend);
    this.weights += weight;
    this.sum += weight * step;
    this.errors += (weight * error) ** 2;
    this.bends += weight * bend;
    this.gains += (weight * gain) ** 2;
  }

  get isEmpty(): boolean {
    return this.weights === 0;
  }

  get step(): number {
    return this.sum / this.weights;
  }

  get error(): number {
    return Math.sqrt(this.errors) / this.weights;
  }

  get bend(): number {
    return this.bends / this.weights;
  }

  get gain(): number {
    return Math.sqrt(this.gains) / this.weights;
  }
}

/** The only peer of the clock's domain, if it has no other peer itself; null: none. A counter that jumped before is still one peer. */
function onlyPeer(wires: readonly Link[], clock: number): number | null {
  const ends = wires.map(({ edge }) => ({ ...wireOf(edge), edge }));
  const own = ends.find(({ edge }) => edge.from === clock || edge.to === clock)!;
  const domain = own.edge.from === clock ? own.from : own.to;
  const peersOf = (of: number): number[] => [
    ...new Set(ends.flatMap(({ from, to }) => (from === of ? [to] : to === of ? [from] : []))),
  ];
  const [peer, ...others] = peersOf(domain);
  return others.length === 0 && peersOf(peer!).length === 1 ? peer! : null;
}

/** When it jumped: after the messages that only fit the line before, and before those that only fit the line after. */
function narrowed(view: readonly View[], at: number, jump: number): { from: number; to: number } {
  let reach = 0;
  for (const { times } of view) {
    const i = indexBehind(times, at);
    if (i > 0 && i < times.length) reach = Math.max(reach, times[i]! - times[i - 1]!);
  }
  const signs: { readonly own: number; readonly isBefore: boolean }[] = [];
  for (const { link, inward, times, steps, scatter } of view) {
    const step = inward ? jump : -jump;
    // Where the two lines fit best.
    let i = -1;
    for (let k = indexBehind(times, at - reach); k < times.length && times[k]! <= at + reach; k++) {
      const isIt = steps.gain[k]! > 0 && Math.abs(steps.step[k]! - step) < AGREES_PART * Math.abs(jump);
      if (isIt && (i < 0 || steps.scatter[k]! < steps.scatter[i]!)) i = k;
    }
    if (i < 0) continue;
    const lower = steps.level[i]! + Math.min(0, step);
    const room = Math.abs(jump) - BELOW * Math.max(scatter, steps.scatter[i]!);
    if (room < 0) continue;
    const fits = lower + Math.min(Math.abs(jump) / 2, room);
    for (const { hull } of link.edge.windows) {
      for (let k = 0; k < hull.length; k += 2) {
        const own = inward ? hull[k]! + hull[k + 1]! : hull[k]!;
        if (Math.abs(own - at) > reach) continue;
        if (hull[k + 1]! - steps.slope[i]! * (hull[k]! - steps.times[i]!) > fits) continue;
        // This message is too early for the higher line.
        signs.push({ own, isBefore: step > 0 });
      }
    }
  }
  signs.sort((a, b) => a.own - b.own);
  // A single message may be wrong, so the place with the most correct messages is taken.
  let right = signs.filter(({ isBefore }) => !isBefore).length;
  let most = right;
  let from = at - reach;
  let to = signs[0]?.own ?? at + reach;
  signs.forEach(({ own, isBefore }, k) => {
    right += isBefore ? 1 : -1;
    if (right < most) return;
    if (right > most) from = own;
    most = right;
    to = signs[k + 1]?.own ?? at + reach;
  });
  // Times must go on rising across it.
  const beside = Math.max(0, 2 * Math.abs(jump) - (to - from)) / 2;
  return { from: from - beside, to: to + beside };
}

/** No message lies farther below its line than this many times the scatter of minima. */
const BELOW = 2;
