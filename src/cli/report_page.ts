/** Writing the page of a report: its options, its place, and the trace in it. */

import { basename, dirname, extname } from 'node:path';
import { Readable } from 'node:stream';
import { Option, type Command } from 'commander';
import { OutputError, UsageError } from '../base/errors.js';
import { checkOutput, type Output } from '../output/allowed.js';
import { deliver, withWorkFolderFor } from '../output/deliver.js';
import { reason } from '../base/reason.js';
import { readIncident } from '../live/incident.js';
import { pageOf } from '../page/page.js';
import type { PageData } from '../page/page_data.js';
import { PAGE } from '../page/page_kind.js';
import { TRACE_BUDGET, traceInPage } from '../page/trace_in_page.js';
import type { RunReport } from '../report/run_report.js';
import { PERFETTO } from '../trace/startup.js';
import { howCut } from '../trace/trace_facts.js';
import { amount } from './numbers.js';
import { permission } from './output.js';
import { webOrigin } from './web_origin.js';

export interface PageOptions {
  readonly trace: boolean;
  readonly traceBudget: number;
  readonly origin: string;
}

export const addPageOptions = (command: Command): Command =>
  command
    .option('--no-trace', 'do not put the trace into the page')
    .addOption(
      new Option(
        '--trace-budget <MB>',
        'put the trace into the page if it has at most this many MB, compressed',
      )
        .argParser((text: string) => megabytes(text) * 1e6)
        .default(TRACE_BUDGET, String(TRACE_BUDGET / 1e6)),
    )
    .option(
      '--origin <url>',
      'address of the Perfetto UI in which the page opens its trace',
      webOrigin,
      PERFETTO,
    );

const megabytes = amount('a number of MB', { above: 0, most: 500 });

const pageAt = (path: string): Output => ({ path, kind: PAGE });

/**
 * Called early, so that a command does not fail after long work. Throws OutputError. Throws UsageError if the name belongs to another kind
 * of file.
 */
export const checkPage = (path: string, force: boolean | undefined, inputs: readonly string[]): void => {
  checkOutput(pageAt(path), permission(force, inputs));
  if (!['', '.html', '.htm'].includes(extname(path).toLowerCase()))
    throw new UsageError(`${path}: a report is an HTML page; choose a name that ends in .html`);
};

export interface PageContent {
  readonly report: RunReport;
  /** Of training steps. */
  readonly pictures: PageData['pictures'];
  /** The place and the name of the trace; null: there is none. */
  readonly trace: string | null;
  readonly traceName: string;
  readonly startup: string;
}

/** Writes the page whole or not at all. Returns its size in bytes. */
export async function writePage(
  path: string,
  { report, pictures, trace, traceName, startup }: PageContent,
  { trace: isWanted, traceBudget, origin, redact }: PageOptions & { readonly redact?: true },
  { force, inputs }: { readonly force: boolean | undefined; readonly inputs: readonly string[] },
): Promise<number> {
  const asked = { output: pageAt(path), permission: permission(force, inputs) };
  try {
    const budget = isWanted ? traceBudget : 0;
    const fileName = basename(traceName);
    const cut = trace === null ? null : howCut(trace);
    const carried = traceInPage({ path: trace, fileName, startup, origin, budget, cut });
    // Names of programs and addresses have no aliases.
    const incident = redact ? null : readIncident(new Set(inputs.map((input) => dirname(input))));
    const bytes = Buffer.from(pageOf(report, carried, incident, pictures));
    const place = checkOutput(asked.output, asked.permission);
    return await withWorkFolderFor(place, undefined, (folder) =>
      deliver({ ...asked, place, stdout: process.stdout }, folder, Readable.from([bytes])),
    );
  } catch (error) {
    if (error instanceof OutputError) throw error;
    throw new OutputError(path, reason(error), 'no report was written', { cause: error });
  }
}
