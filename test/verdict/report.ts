/** The report of a made-up verdict: as many ranks as wanted, eight to a host, and nothing else to say. */

import type { VerdictReport } from '../../src/report/verdict_text.js';
import type { Verdict } from '../../src/verdict/types.js';

/** 2026-11-21 03:00:00 UTC. */
const THREE_AM = '1795230000000000000';

export function report(verdict: Verdict, ranks: number, more: Partial<VerdictReport> = {}): VerdictReport {
  return {
    verdict,
    traceStart: THREE_AM,
    worldSize: ranks,
    missingRanks: [],
    unusable: [],
    otherRuns: [],
    ranks: Array.from({ length: ranks }, (_, rank) => ({
      rank,
      host: `node${rank >> 3}`,
      localRank: rank % 8,
      file: `run/${rank}.bin`,
      life: 'recording',
      lost: { overwritten: 0, dropped: 0, torn: 0, copy: 0 },
      unread: 0,
      problems: [],
    })),
    communicators: [],
    clocks: [],
    traffic: null,
    suggestion: null,
    causes: [],
    flightRecorder: null,
    ...more,
  };
}
