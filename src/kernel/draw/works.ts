/**
 * Collectives and send/receives: one slice from enqueueing to the end of the last child, in lanes per communicator.
 *
 *   complete          start ─────────── last child's end
 *   open              start ─────────── ... (left open: it hung, or the recording ended)
 *   cut off           start ─────────── end of the file, argument `completion`
 *   not recorded      start ── enqueued, argument `completion` says why the end is unknown
 */

import { Work } from '../event';
import { Comm } from '../comm';
import { file } from '../file';
import { TextFlag } from '../file_texts';
import { Records } from '../record';
import { Clock } from './clock';
import { CommGroups } from './comm_groups';
import { Due, DueEnds } from './due_ends';
import { workCorrelation } from './identity';
import { InFlight } from './in_flight';
import { WorkEndRow } from '../result_rows';
import { CommLanes } from './lanes';
import { Sink } from './sink';
import { Text } from './text';
import { Texts } from './texts';
import { Track, What } from './tracks';
import { Detail } from './windows';
import { END_CUT_OFF, parentText } from './words';
import { Outcome, WorkEnds } from './work_ends';

/** ns: a stamp farther outside its callbacks' limits belongs to other work. */
export const GPU_SLACK_NS: f64 = 1e6;

/** A slice whose end is to come. */
export class OpenWork extends Due {
  track: Track | null = null;
  slice: i32 = 0;
  lanes: CommLanes | null = null;
  lane: i32 = 0;

  constructor(private readonly works: Works) {
    super();
  }

  end(at: f64): void {
    this.works.close(this, at);
  }
}

export class Works {
  /** Not 0: each work has an arrow to what another tool recorded of it, whose id begins with this (src/foreign/beside/our_works.ts). */
  arrows: u64 = 0;
  private readonly free: OpenWork[] = [];

  constructor(
    private readonly sink: Sink,
    private readonly clock: Clock,
    private readonly groups: CommGroups,
    private readonly dueEnds: DueEnds,
    private readonly inFlight: InFlight,
    private readonly ends: WorkEnds,
  ) {}

  start(work: Work, records: Records, row: i32, at: f64): void {
    const end = this.ends.of(work.row);
    const outcome = <i32>end.outcome;
    const lanes = this.lanesOf(work);
    const open = this.newOpen();
    open.lanes = lanes;
    open.lane = lanes.acquire();
    const track = (open.track = lanes.track(open.lane));
    this.addArgs(work, records, row, end);
    const correlation = workCorrelation(work);
    this.sink.correlate(correlation);
    if (this.arrows != 0 && correlation != 0) this.sink.arrow(this.arrows + <u64>correlation);
    open.slice = this.sink.begin(track, at, nameOf(work, outcome, this.sink.texts));
    this.inFlight.workStarted(at);
    if (outcome == Outcome.CutOff) work.cutOff = end.until;
    if (isUntilEnqueued(outcome)) work.untilEnqueued = open;
    else if (outcome != Outcome.Open) this.dueEnds.schedule(this.completion(work, end, at), open);
  }

  enqueued(work: Work, at: f64): void {
    const open = work.untilEnqueued;
    if (open === null) return;
    work.untilEnqueued = null;
    open.end(at);
  }

  close(open: OpenWork, at: f64): void {
    this.sink.end(open.track!, at, open.slice);
    this.inFlight.workEnded(at);
    open.lanes!.release(open.lane);
    this.free.push(open);
  }

  private newOpen(): OpenWork {
    return this.free.length > 0 ? this.free.pop() : new OpenWork(this);
  }

  /** Never before the start. */
  private completion(work: Work, end: WorkEndRow, start: f64): f64 {
    const clock = this.clock;
    let last = start;
    if (!isNaN(end.lastOp)) last = max(last, clock.time(end.lastOp));
    if (!isNaN(end.noticed)) last = max(last, this.blocksEnd(work, end));
    if (!isNaN(end.until)) last = max(last, clock.time(end.until));
    return isNaN(end.executedEnd) ? last : max(last, end.executedEnd);
  }

  /** By the GPU's clock if the stamps can be this work's, else when the end was noticed. */
  private blocksEnd(work: Work, end: WorkEndRow): f64 {
    const clock = this.clock;
    const comm = work.comm.number;
    const noticed = clock.time(end.noticed);
    if (isNaN(end.firstStamp) || !clock.hasGpu(comm)) return noticed;
    const first = clock.gpuTime(comm, end.firstStamp);
    const last = clock.gpuTime(comm, end.lastStamp);
    const isItsOwn = first >= clock.time(work.earliest) - GPU_SLACK_NS && last <= noticed + GPU_SLACK_NS;
    return isItsOwn && last < noticed ? last : noticed;
  }

  private lanesOf(work: Work): CommLanes {
    const comm = work.comm;
    const known = work.isColl ? comm.collLanes : comm.pointLanes;
    if (known !== null) return known;
    const made = this.newLanes(comm, work.isColl);
    if (work.isColl) comm.collLanes = made;
    else comm.pointLanes = made;
    return made;
  }

  private newLanes(comm: Comm, isColl: bool): CommLanes {
    return new CommLanes(
      this.sink,
      this.groups.group(comm),
      comm.number,
      What.Works,
      Detail.Coll,
      isColl ? 1 : 0,
    );
  }

  private addArgs(work: Work, records: Records, row: i32, end: WorkEndRow): void {
    const sink = this.sink;
    const texts = sink.texts;
    const isColl = work.isColl;
    const isCalled = !isNaN(work.apiStart);
    const isGraph = isCalled && work.isApiCaptured;
    if (isColl) sink.number(texts.fixed('seq'), work.seq);
    // A collective with a repeated number is a replay, unless its call shows that there is no graph.
    if (work.ordinal > 0 || isGraph)
      sink.number(texts.fixed(isColl && (!isCalled || isGraph) ? 'replay' : 'ordinal'), work.ordinal);
    if (!work.isOrdinalAbsolute) sink.flag(texts.fixed('ordinalAbsolute'), false);
    if (!isColl) sink.number(texts.fixed('peer'), work.peer);
    sink.number(texts.fixed('count'), work.count);
    sink.text(texts.fixed('datatype'), texts.ofFile(work.datatype));
    let userTag = records.more(row, 2, 2);
    if (isColl) {
      const shape = records.more32(row, 2, 2, 0);
      const variant = records.more32(row, 4, 0, 0);
      this.addName('algo', work.algo);
      this.addName('proto', work.proto);
      this.addName('kernelVariant', variant & 0xffff);
      if (((variant >> 16) & 0xff) != 0) sink.flag(texts.fixed('symmetric'), true);
      if (file().hasText(work.func, TextFlag.HasRoot)) sink.number(texts.fixed('root'), work.root);
      sink.number(texts.fixed('channels'), work.nChannels);
      sink.number(texts.fixed('warps'), (shape >> 8) & 0xff);
      userTag = records.more(row, 3, 2);
    } else sink.number(texts.fixed('channels'), work.nChannels);
    if (userTag != 0) sink.long(texts.fixed('userTag'), userTag);
    if (isGraph) sink.flag(texts.fixed('graph'), true);
    const parent = parentText(work.link);
    if (parent != '') sink.text(texts.fixed('parent'), texts.fixed(parent));
    if (end.executed > 0) {
      sink.text(texts.fixed('executedBy'), texts.given(<i32>end.executors));
      sink.number(texts.fixed('pxnOps'), end.executed);
    }
    const completion = completionText(work, <i32>end.outcome, isGraph);
    if (completion != '') sink.text(texts.fixed('completion'), texts.fixed(completion));
  }

  /** An argument that NCCL may leave empty. */
  private addName(name: string, text: u32): void {
    const value: Text = this.sink.texts.ofFile(text);
    if (value.length > 0) this.sink.text(this.sink.texts.fixed(name), value);
  }
}

const isUntilEnqueued = (outcome: i32): bool =>
  outcome != Outcome.Complete &&
  outcome != Outcome.Open &&
  outcome != Outcome.Aborted &&
  outcome != Outcome.CutOff;

/** A slice that is short because more is not known says so at once, and one that does not end says which it is. */
function nameOf(work: Work, outcome: i32, texts: Texts): Text {
  if (isUntilEnqueued(outcome)) return texts.around('', work.func, ' enqueued');
  if (outcome == Outcome.Open && work.isColl)
    return texts.of(texts.contentOf(work.func) + ' ' + (<i64>work.seq).toString());
  return texts.ofFile(work.func);
}

/** Why the end is not known; '': it is. */
function completionText(work: Work, outcome: i32, isGraph: bool): string {
  switch (outcome) {
    case Outcome.Aborted:
      return 'not finished when the communicator was finalized';
    case Outcome.NoChildren:
      if (!work.isColl && work.comm.isKnown && work.peer == work.comm.rank)
        return 'to itself, completion not recorded';
      return isGraph
        ? 'part of a captured graph, completion not recorded'
        : 'enqueued, completion not recorded';
    case Outcome.Endless:
      return 'enqueued, end not reported by NCCL (CollNet or memcpy)';
    case Outcome.OutsideWindow:
      return 'enqueued, completion overwritten in the ring';
    case Outcome.EndLost:
      return 'enqueued, completion among lost records';
    case Outcome.CutOff:
      return END_CUT_OFF;
    case Outcome.NotRead:
      return 'enqueued, completion in a part that was not read';
    default:
      return '';
  }
}
