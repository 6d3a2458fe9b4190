/** How many operations a communicator has in flight, for its counter. */

import { Changes, Counting } from './counters';
import { Due } from './due_ends';

/** Open proxy operations of one communicator. After its finalize they never stop. */
export class CommOps extends Due {
  open: f64 = 0;
  isFinalized: bool = false;

  constructor(
    private readonly changes: Changes,
    private readonly ops: Counting,
  ) {
    super();
  }

  /** The finalize. */
  end(at: f64): void {
    this.isFinalized = true;
    if (this.open > 0) this.changes.add(this.ops, -this.open, at);
  }
}
