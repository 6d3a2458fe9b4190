/**
 * The track `verdict`, first in the cluster group: it says what is wrong with the run, and when. It knows no verdicts: trace/above_ranks.ts
 * provides the content. It is part of every selection. It marks the start of the recording, so that a reduced drawing begins where the
 * whole run begins.
 */

import type { TraceNs } from '../../base/time.js';
import type { Args, FlowId, SliceExtra, TrackRef, TrackSink } from './sink.js';

/** A moment ends at its given time. Only work that NCCL did not finish stays open. */
export interface VerdictMoment {
  readonly from: TraceNs;
  readonly to: TraceNs;
  /** At most 100 characters, to be read at a glance. */
  readonly headline: string;
}

export interface VerdictPicture {
  /** Correlation id: that of the kind of verdict, which gives its slices the same colour in every trace. */
  readonly colour: number;
  /** The track begins with the recording. Otherwise it begins with a requested window. */
  readonly isFromBegin: boolean;
  /** Before the moment: what is not drawn. null: everything is, or the headline says it. */
  readonly before: VerdictMoment | null;
  readonly whole: VerdictMoment;
  /** Within it, in order of time, without overlap. */
  readonly waits: readonly VerdictMoment[];
  /** The report. */
  readonly lines: readonly string[];
  readonly findings: readonly string[];
  /** Opens the Perfetto UI as `nccl-trace open` does; the user then opens the trace by hand. */
  readonly link: string;
  /** The arrow to the step that the verdict names. null: there is none, or the step is not drawn. */
  readonly arrow: FlowId | null;
}

/** Before the communicators. */
const FIRST = -1;

export function drawVerdict(sink: TrackSink, cluster: TrackRef, picture: VerdictPicture): void {
  const { before, whole, waits, lines, findings, link, arrow, colour } = picture;
  const track = sink.describe({
    kind: 'slices',
    detail: 'always',
    name: 'verdict',
    parent: cluster,
    rank: FIRST,
    description: VERDICT,
  });
  const draw = (
    { from, to, headline }: VerdictMoment,
    extra: SliceExtra,
    inside: readonly VerdictMoment[],
  ) => {
    const slice = sink.begin(track, from, headline, { ...extra, correlation: colour });
    for (const wait of inside) draw(wait, {}, []);
    sink.end(track, to, slice);
  };
  if (picture.isFromBegin && (before ?? whole).from > 0)
    sink.instant(track, 0 as TraceNs, 'recording begins');
  if (before) draw(before, {}, []);
  // Only this slice has arguments with these names: the tab of the first screen finds the report by them.
  const args: Args = [...numbered('line', lines), ...numbered('finding', findings), ['openWith', link]];
  draw(whole, { args, flow: arrow ?? undefined }, waits);
}

const numbered = (name: string, lines: readonly string[]): Args =>
  lines.map((line, i) => [`${name}${String(i + 1).padStart(2, '0')}`, line]);

const VERDICT =
  'The verdict on the whole run, in one line. Its arguments are the report, and all that was found. It lasts from the beginning of ' +
  'the problem to the end of the recording. For a slow rank there is a slice below it for each of the longest ' +
  'times when all others waited for it alone. "openWith": a link that opens the Perfetto UI with the important ' +
  'rows pinned. Then open this trace there.';
