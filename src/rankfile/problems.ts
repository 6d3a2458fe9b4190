/** Collects damage of usable files: one entry per sentence, with its count, in order of first appearance. */

import type { Problem } from './file_types.js';

export class Problems {
  private readonly counts = new Map<string, number>();

  add(what: string, count = 1): void {
    if (count > 0) this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }

  copy(): Problems {
    const copy = new Problems();
    for (const [what, count] of this.counts) copy.add(what, count);
    return copy;
  }

  list(): Problem[] {
    return [...this.counts].map(([what, count]) => ({ what, count }));
  }
}
