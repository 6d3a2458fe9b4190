/** The data in the page, for the code that runs in it. */

import type { StepPicture } from '../foreign/beside/step_picture.js';
import type { RunReport } from '../report/run_report.js';

export interface PageData {
  readonly report: RunReport;
  /** Training steps as other tools recorded them, with what ours did, the largest exposed share first. */
  readonly pictures: readonly StepPicture[];
  /** null: the page carries none. */
  readonly trace: {
    readonly fileName: string;
    /** Origin of the Perfetto UI, such as https://ui.perfetto.dev. */
    readonly origin: string;
    /** How the UI shows it first (src/trace/startup.ts). */
    readonly startup: string;
    readonly traceStart: string;
  } | null;
}
