/** Why a file of another tool may not share the axis: a closed list. Each says what was expected and what was found. */

import { RankFileError, type RankFileFault } from '../../base/errors.js';

export type RefusalKind =
  /** No JSON object with `traceEvents`, and no export of Nsight Systems with kernels. */
  | 'not-a-trace'
  /** Cut off, damaged, or beyond the bounds of a reader. */
  | 'broken'
  /** It does not say of which rank it is. */
  | 'rank-unknown'
  /** It says another rank than the command line. */
  | 'rank-differs'
  /** The run has no file of this rank, or does not draw it. */
  | 'rank-absent'
  | 'world-differs'
  | 'host-differs'
  /** Its times count from a moment that it does not name. */
  | 'times-unknown'
  /** It ended before the run began, or began after it. */
  | 'other-time'
  /** Its NCCL kernels are not the rank's collectives. */
  | 'other-work';

export class Refusal extends RankFileError {
  constructor(
    readonly kind: RefusalKind,
    fault: RankFileFault,
  ) {
    super(fault);
  }
}
