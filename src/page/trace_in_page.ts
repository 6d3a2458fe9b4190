/** The trace inside a page, or the reason why the page has none. The trace is read from its file, and compressed if it is not yet. */

import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { TraceInPage } from './page.js';

/** Limit of the compressed trace in bytes, so that the page can be mailed and opened on any machine. */
export const TRACE_BUDGET = 25e6;
/** A larger trace is not compressed for a page, because the result would still be far beyond any budget. */
const MOST_PLAIN = 2e9;

export interface TraceWanted {
  /** Path of the trace file; null: the trace went to a stream. */
  readonly path: string | null;
  /** The name under which the page saves it. */
  readonly fileName: string;
  readonly startup: string;
  readonly origin: string;
  /** Bytes at most; 0: none is wanted. */
  readonly budget: number;
  /** What is missing of the trace; null: nothing. */
  readonly cut: string | null;
}

export function traceInPage({
  path,
  fileName,
  startup,
  origin,
  budget,
  cut,
}: TraceWanted): TraceInPage | { why: string } {
  if (budget === 0) return { why: 'This report was made without its trace.' };
  if (path === null) return { why: 'The trace was written to a stream, so it is not in this file.' };
  if (cut !== null) return { why: `The trace is not in this file: ${cut}.` };
  const { size } = statSync(path);
  if (size > MOST_PLAIN) return { why: tooLarge(size, budget) };
  const isPacked = /\.(gz|zst)$/.test(path);
  if (isPacked && size > budget) return { why: tooLarge(size, budget) };
  const bytes = isPacked ? readFileSync(path) : gzipSync(readFileSync(path));
  if (bytes.length > budget) return { why: tooLarge(bytes.length, budget) };
  const name = basename(fileName);
  return { bytes, fileName: isPacked ? name : `${name}.gz`, startup, origin };
}

const tooLarge = (bytes: number, budget: number): string =>
  `The trace has ${megabytes(bytes)}, more than the ${megabytes(budget)} that a report carries (--trace-budget), so it is not in this file.`;

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 10e6 ? 1 : 0)} MB`;
