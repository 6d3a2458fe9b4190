/**
 * Decides which GPU stamps may define the GPU's clock. A true stamp lies between its call and its notice, so each stamp allows an interval
 * of offsets. A garbage stamp allows another interval. The offset that most stamps of a batch allow is the clock. Without this vote, a
 * stamp from the future would move the lower envelope and all kernels. A stamp from the past moves nothing and stays.
 */

/** Receives the votes that their batch does not contradict, in the order of `add`. */
export interface VoteListener {
  /** `isTooEarly`: the stamp is too early for its call. */
  accepted(votes: VoteColumns, i: number, isTooEarly: boolean): void;
}

const BATCH = 128;
/** What a launch thread that was preempted may add. */
const SLACK_NS = 1e6;
/** How far the GPU's clock may drift against the host's within one batch. */
const MAX_DRIFT = 200e-6;

const column = (): Float64Array => new Float64Array(BATCH);

export class VoteColumns {
  /** When it was noticed, and the earliest it can have been taken, in ns of the host's clock. */
  readonly noticed = column();
  readonly earliest = column();
  readonly gpu = column();
  /** The call that launched it, ns of the host's clock; NaN: a graph launched it, or it is not reported. */
  readonly launched = column();
}

export class GpuVotes {
  private readonly votes = new VoteColumns();
  private readonly from = column();
  private readonly to = column();
  private size = 0;

  constructor(private readonly listener: VoteListener) {}

  /** The numbers from `at` on, in the order of VoteColumns. */
  add(numbers: ArrayLike<number>, at: number): void {
    const { votes, size } = this;
    votes.noticed[size] = numbers[at]!;
    votes.earliest[size] = numbers[at + 1]!;
    votes.gpu[size] = numbers[at + 2]!;
    votes.launched[size] = numbers[at + 3]!;
    this.size++;
    if (this.size === BATCH) this.finish();
  }

  finish(): void {
    const { votes, size } = this;
    const { noticed, earliest, gpu } = votes;
    this.size = 0;
    if (size === 0) return;
    const slack = SLACK_NS + Math.max(0, noticed[size - 1]! - noticed[0]!) * MAX_DRIFT;
    const offset = this.mostAllowed(size, slack);
    for (let i = 0; i < size; i++) {
      const isFromTheFuture = noticed[i]! - gpu[i]! + slack < offset;
      if (!isFromTheFuture) this.listener.accepted(votes, i, earliest[i]! - gpu[i]! - slack > offset);
    }
  }

  /** The lowest offset that most votes allow. */
  private mostAllowed(size: number, slack: number): number {
    const { noticed, earliest, gpu } = this.votes;
    const from = this.from.subarray(0, size);
    const to = this.to.subarray(0, size);
    for (let i = 0; i < size; i++) {
      from[i] = earliest[i]! - gpu[i]! - slack;
      to[i] = noticed[i]! - gpu[i]! + slack;
    }
    from.sort();
    to.sort();
    let [begun, ended, most] = [0, 0, 0];
    let best = -Infinity;
    while (begun < size) {
      if (from[begun]! > to[ended]!) {
        ended++;
        continue;
      }
      begun++;
      if (begun - ended > most) [most, best] = [begun - ended, from[begun - 1]!];
    }
    return best;
  }
}
