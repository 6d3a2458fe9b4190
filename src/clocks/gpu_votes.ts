/**
 * Which GPU stamps may define the GPU's clock. A true stamp lies between its call and its notice, so each allows an interval of offsets;
 * garbage allows another one. The offset that most of a batch allow is the clock. A stamp from the future would otherwise move the lower
 * envelope and all kernels; one from the past moves nothing and stays.
 */

export interface GpuVote {
  /** When it was noticed, and the earliest it can have been taken, in ns of the host's clock. */
  readonly noticed: number;
  readonly earliest: number;
  readonly gpu: number;
}

const BATCH = 128;
/** What a launch thread that was preempted may add. */
const SLACK_NS = 1e6;
/** Of the GPU's clock against the host's, within one batch. */
const MAX_DRIFT = 200e-6;

export class GpuVotes<Vote extends GpuVote> {
  private batch: Vote[] = [];

  /**
   * `accept` gets the votes that their batch does not contradict, in the order of `add`, and whether a vote's stamp is too early for its
   * call.
   */
  constructor(private readonly accept: (vote: Vote, isTooEarly: boolean) => void) {}

  add(vote: Vote): void {
    this.batch.push(vote);
    if (this.batch.length === BATCH) this.finish();
  }

  finish(): void {
    const { batch } = this;
    this.batch = [];
    const span = (batch.at(-1)?.noticed ?? 0) - (batch[0]?.noticed ?? 0);
    const slack = SLACK_NS + Math.max(0, span) * MAX_DRIFT;
    const offset = mostAllowed(batch, slack);
    for (const vote of batch) {
      const isFromTheFuture = vote.noticed - vote.gpu + slack < offset;
      if (!isFromTheFuture) this.accept(vote, vote.earliest - vote.gpu - slack > offset);
    }
  }
}

/** The lowest offset that most votes allow. */
function mostAllowed(votes: readonly GpuVote[], slack: number): number {
  const from = new Float64Array(votes.length);
  const to = new Float64Array(votes.length);
  votes.forEach(({ noticed, earliest, gpu }, i) => {
    from[i] = earliest - gpu - slack;
    to[i] = noticed - gpu + slack;
  });
  from.sort();
  to.sort();
  let [begun, ended, most] = [0, 0, 0];
  let best = -Infinity;
  while (begun < from.length) {
    if (from[begun]! > to[ended]!) {
      ended++;
      continue;
    }
    begun++;
    if (begun - ended > most) [most, best] = [begun - ended, from[begun - 1]!];
  }
  return best;
}
