/**
 * Draws the cluster group with the verdict, and the ranks without a file. They are drawn last, because the first screen depends on the
 * place of everything else.
 */

import type { TraceNs } from '../base/time.js';
import { runDuration } from './duration.js';
import { clusterBlock } from './cluster_block.js';
import type { ConvertResult } from './convert.js';
import type { Drawing } from './drawing.js';
import { firstScreen, namedCall, silencesOf } from './first_screen.js';
import { missingBlock, missingGroups, namedMissing } from './missing_ranks.js';
import { boundsOf, momentsOf, type Moments } from './moments.js';
import { notDrawn, type NotDrawn } from './selection_report.js';
import { PERFETTO, startupLink, startupQuery } from './startup.js';
import type { Study } from '../study/study.js';
import { clusterTitle, COLOUR } from './titles.js';
import { watchesOf, type FileWatch } from './watched_rows.js';
import type { BlockCounts } from '../kernel/host/drawn_rows.js';
import type { VerdictPicture } from './tracks/verdict_track.js';

/** The part of the trace that is decided before a rank is drawn. */
export interface Layout {
  readonly blockCount: number;
  /** The watched rows of all files. */
  readonly watches: readonly FileWatch[];
  readonly missing: readonly (readonly number[])[];
  /** The run's files beside which files of other tools are drawn. Their blocks are the last. */
  readonly beside: readonly number[];
}

export function layoutOf({ run, verdict }: Study, { scope }: Drawing, besides: number): Layout {
  const missing = missingGroups(run, scope);
  const blockCount = run.members.length + 1 + missing.length + besides;
  return { blockCount, watches: watchesOf(run, verdict), missing, beside: [] };
}

/** Characters that a slice of the screen's width shows. */
export const HEADLINE_CHARACTERS = 100;

/** The verdict as text for people. */
export interface VerdictText {
  /** Lines of text. */
  readonly report: string;
  /** One line of at most 100 characters. */
  readonly headline: string;
  /** All that was found, a line each, the headline's first. */
  readonly findings: readonly string[];
  /** Further arguments of the collective that the verdict names. */
  readonly aboutCall: readonly (readonly [string, string])[];
}

export interface AboveRanks {
  readonly bytes: Uint8Array;
  readonly counts: readonly BlockCounts[];
  /** Number of processes and arrows that are drawn here. */
  readonly processes: number;
  readonly arrows: number;
  /** See startup.ts. */
  readonly startup: string;
}

/** Whoever gets a reduced trace must not take what is not drawn for time without work. So the first slice says it. */
function withLeftOut(
  { whole, waits }: Moments,
  leftOut: NotDrawn | null,
): Pick<VerdictPicture, 'before' | 'whole' | 'waits'> {
  if (!leftOut) return { before: null, whole, waits };
  const text = `Not drawn: ${leftOut.what}`;
  if (whole.from > 0) {
    const to = Math.round(Math.min(whole.from, leftOut.until)) as TraceNs;
    return { before: { from: 0 as TraceNs, to, headline: text }, whole, waits };
  }
  const headline = `${whole.headline}. ${text}`;
  return {
    before: null,
    whole: headline.length <= HEADLINE_CHARACTERS ? { ...whole, headline } : whole,
    waits,
  };
}

/** `blocks`: by file; null: not drawn. */
export function drawAboveRanks(
  studied: Study,
  drawing: Drawing,
  { blockCount, watches, missing }: Layout,
  blocks: readonly (ConvertResult | null)[],
  texts: VerdictText,
): AboveRanks {
  const { run, clocks, comms, verdict } = studied;
  const { traceStart } = clocks.solution;
  const duration = runDuration(run, clocks.solution);
  const named = namedMissing(run, verdict);
  const isNamed = new Set(named);
  const title = clusterTitle(verdict, run.members, named);
  const bounds = boundsOf(drawing.scope, duration);
  const moments = momentsOf(verdict, texts.headline, { run, bounds });
  const found = watches.map(({ file }, i) => {
    const own = watches.slice(0, i).filter((one) => one.file === file).length;
    return blocks[file]?.found[own] ?? null;
  });
  const leftOut = notDrawn(drawing, duration);
  let startup = '';
  const verdictOf = (lanes: readonly string[]): VerdictPicture => {
    const screen = firstScreen(verdict, { run, comms, traceStart, bounds }, moments, {
      clusterTitle: title,
      lanes,
      watches,
      found,
      silences: silencesOf(verdict),
      isDrawn: blocks.map((block) => block !== null),
      missing: missing.filter((ranks) => ranks.some((rank) => isNamed.has(rank))),
    });
    startup = startupQuery(screen);
    const target = watches.find((_, i) => found[i]?.hasArrow);
    return {
      isFromBegin: bounds.from === 0,
      colour: COLOUR[verdict.kind],
      ...withLeftOut(moments, leftOut),
      lines: [
        ...texts.report.split('\n').filter((line) => line !== ''),
        ...(leftOut ? [`  not drawn:      ${leftOut.what}`] : []),
        ...(leftOut && drawing.rest ? [`  all of it:      ${drawing.rest.command}`] : []),
      ],
      findings: texts.findings,
      link: startupLink(PERFETTO, null, startup),
      arrow: target?.arrow?.flow ?? null,
    };
  };
  const cluster = clusterBlock(studied, drawing.decision.cluster, duration, {
    blockCount,
    title,
    call: namedCall(verdict, texts.aboutCall),
    verdictOf,
  });
  const gaps = missingBlock(missing, {
    ...{ firstBlock: run.members.length + 1, blockCount, traceStart, bounds, named },
  });
  return {
    bytes: Buffer.concat([cluster.bytes, gaps.bytes]),
    counts: [cluster.counts, ...gaps.counts],
    processes: missing.length,
    arrows: found.filter((one) => one?.hasArrow).length,
    startup,
  };
}
