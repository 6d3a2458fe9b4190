/** The data in the page, for the code that runs in it. */

import type { RunReport } from '../report/run_report.js';

export interface PageData {
  readonly report: RunReport;
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
