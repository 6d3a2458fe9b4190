/**
 * Between study and drawing: turns a request into a plan per file, refuses what no browser can open, and suggests further commands. Reads
 * and writes nothing.
 */

import { maxOf } from '../base/extremes.js';
import { commKey } from '../model/identity.js';
import { basename } from 'node:path';
import { UsageError } from '../base/errors.js';
import { hex64 } from '../base/hex.js';
import { traceTimeOf } from '../clocks/domains.js';
import { COMFORTABLE, fits, type Budget, type Size, type SizedFile, UTMOST } from './budget.js';
import { besides, mergeCommandLine, type RunArgs } from './commands.js';
import { decide, type DrawDecision, type DrawQuestion } from './draw_plan.js';
import { runDuration } from './duration.js';
import { type Scope, type Selectable, type SelectionRequest, selectScope } from './selection.js';
import type { Study } from '../study/study.js';
import { rangesOf } from './asked_times.js';
import { neighbours, stallOf, suspectComm, suspects } from '../verdict/facts/suspects.js';

export interface DrawingOptions extends RunArgs {
  /** Path of the trace; absent: none is written. */
  readonly output?: string | undefined;
  readonly select?: SelectionRequest | undefined;
  /** Limit if the user asks for no detail. Default: COMFORTABLE. */
  readonly budget?: Budget | undefined;
  /** Above this a requested detail is refused. Default: UTMOST. */
  readonly utmost?: Size | undefined;
}

export interface Drawing {
  /** The request. Names are aliases if the run's are. */
  readonly request: SelectionRequest;
  readonly scope: Scope;
  readonly decision: DrawDecision;
  /** Draws what the budget left out; null: nothing. */
  readonly rest: SizedCommand | null;
}

export interface SizedCommand {
  readonly command: string;
  readonly size: Size;
}

/** Throws UsageError for a selection that does not exist, and for a detail that is too large. */
export function planDrawing(studied: Study, given: DrawingOptions): Drawing {
  const options = inAliases(studied, given);
  const request = options.select ?? {};
  const scope = selectScope(selectable(studied), request);
  const question = questionOf(studied, options, scope);
  const decision = decide(question);
  if (request.detail !== undefined && !fits(decision.size, options.utmost ?? UTMOST))
    throw new UsageError(refusal(studied, options, decision.size));
  const full = options.output === undefined ? undefined : besides(options.output, 'full');
  const rest = decision.isReduced ? inFull(studied, { ...options, output: full }) : null;
  return { request, scope, decision, rest };
}

/** The command that draws what the verdict points to; null: it points nowhere. */
export function suggestDrawing(studied: Study, given: DrawingOptions): SizedCommand | null {
  const options = inAliases(studied, given);
  const { run, verdict } = studied;
  const named = suspectComm(verdict);
  const files = suspects(verdict);
  if (!named || files.length === 0) return null;
  const communicators = run.members.map(({ scan }) => scan.communicators);
  const near = [...files, ...neighbours(files, named.commId, communicators)];
  const ranks = [...new Set(near.flatMap((file) => run.members[file]!.ranks))];
  const isAll = ranks.length === 0 || near.length === run.members.length;
  const asked = commText(named, communicators.flat());
  // A damaged file may give the communicator another id. Then the command names only its ranks.
  const isThere = near.some((file) =>
    communicators[file]!.some(({ name, commId }) => name === asked || hex64(commId) === asked),
  );
  const comm = isThere ? asked : null;
  const request: SelectionRequest = {
    comms: comm === null ? undefined : [comm],
    ranks: isAll ? undefined : rangesOf(ranks),
    last: lastOf(studied),
  };
  const output = options.output === undefined ? undefined : besides(options.output, 'closer');
  return sized(studied, { ...options, output, select: request });
}

/** With `--redact` the commands contain no names either. People can read them, but not run them. */
function inAliases({ aliases }: Study, options: DrawingOptions): DrawingOptions {
  if (aliases === null) return options;
  const comms = options.select?.comms?.map((asked) => aliases.comms.get(asked) ?? asked);
  const output = options.output === undefined ? undefined : basename(options.output);
  return { ...options, inputs: ['DIR'], run: undefined, output, select: { ...options.select, comms } };
}

/** All steps, or the longest stretch at the end that can be opened. */
function inFull(studied: Study, options: DrawingOptions): SizedCommand | null {
  const all: SelectionRequest = { ...options.select, detail: 'step' };
  const whole = sized(studied, { ...options, select: all });
  const utmost = options.utmost ?? UTMOST;
  if (fits(whole.size, utmost)) return whole;
  const { last, from, to, around, ...rest } = all;
  const { window } = selectScope(selectable(studied), { last, from, to, around });
  const end = Math.min(window.to, runDuration(studied.run, studied.clocks.solution));
  let span = Math.floor((end - Math.max(window.from, 0)) / 2e9);
  for (; span >= 1; span = Math.floor(span / 2)) {
    const start = { kind: 'since-start', ns: Math.max(0, Math.round(end - span * 1e9)) } as const;
    const narrower = sized(studied, {
      ...options,
      select: { ...rest, from: start, to: around ? { kind: 'since-start', ns: Math.round(end) } : to },
    });
    if (fits(narrower.size, utmost)) return narrower;
  }
  return null;
}

function refusal(studied: Study, options: DrawingOptions, size: Size): string {
  const { detail } = options.select ?? {};
  const utmost = options.utmost ?? UTMOST;
  const lines = [
    `--detail ${detail} would draw ${sizeText(size)}; no browser opens more than ${sizeText(utmost)}. ` +
      'Select less with --ranks, --comm or --last, or leave --detail out and as much as fits is drawn.',
  ];
  const narrower = detail === 'step' ? inFull(studied, options) : null;
  if (narrower) lines.push(`This fits (about ${bytesText(narrower.size.bytes)}): ${narrower.command}`);
  return lines.join('\n');
}

function sized(studied: Study, options: DrawingOptions): SizedCommand {
  const request = options.select ?? {};
  const scope = selectScope(selectable(studied), request);
  const { size } = decide(questionOf(studied, options, scope));
  return { command: mergeCommandLine({ ...options, request }), size };
}

function questionOf(studied: Study, { select, budget }: DrawingOptions, scope: Scope): DrawQuestion {
  const { run, clocks, comms, verdict } = studied;
  const times = run.members.map((_, file) => traceTimeOf(clocks.solution, file));
  const files = run.members.map(({ scan: { size, transfers } }, file): SizedFile => {
    return { size, connections: transfers.ends.length, tickAt: (at) => tickAt(times[file]!, at) };
  });
  return {
    files,
    cluster: comms,
    scope,
    suspects: suspects(verdict),
    lastMove:
      stallOf(verdict)?.since ??
      maxOf(
        run.members.map(({ scan }, file) => times[file]!(scan.lastTick ?? 0)),
        0,
      ),
    end: runDuration(run, clocks.solution),
    detail: select?.detail,
    budget: budget ?? COMFORTABLE,
  };
}

/** Inverts a clock by halving, because it only rises. Exact to a tick. */
function tickAt(time: (tick: number) => number, at: number): number {
  if (!Number.isFinite(at)) return at;
  let [low, high] = [-(2 ** 52), 2 ** 52];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (time(middle) < at) low = middle;
    else high = middle;
  }
  return high;
}

function selectable({ run, clocks: { solution }, origins }: Study): Selectable {
  return {
    ranks: run.members.map(({ ranks }) => ranks),
    communicators: run.members.map(({ scan }, file) => [
      ...scan.communicators,
      ...[...origins[file]!.contexts.values()].map(({ comm }) => comm),
    ]),
    traceStart: solution.traceStart,
    durationNs: runDuration(run, solution),
  };
}

/** The name if it is unique and needs no quotes, else the id. */
function commText(
  { comm, commId }: { readonly comm: string; readonly commId: string | null },
  there: readonly { readonly commId: bigint; readonly name: string }[],
): string | null {
  const keys = new Set(there.filter(({ name }) => name === comm).map(commKey));
  if (/^[\w.:+@%/-]+$/.test(comm) && keys.size === 1) return comm;
  return commId === null || BigInt(commId) === 0n ? null : hex64(BigInt(commId));
}

const LEAST_LAST_NS = 60e9;
const BEFORE_NS = 10e9;

/** A round time that reaches from 10 s before everything stopped to the end. undefined: the whole run. */
function lastOf({ run, clocks: { solution }, verdict }: Study): number | undefined {
  const duration = runDuration(run, solution);
  const since = stallOf(verdict)?.since;
  const wanted = since === undefined ? 0 : duration - since + BEFORE_NS;
  const round = wanted > 7200e9 ? 3600e9 : wanted > 120e9 ? 60e9 : 10e9;
  const last = Math.max(LEAST_LAST_NS, Math.ceil(wanted / round) * round);
  return last < duration ? last : undefined;
}

export const sizeText = ({ slices, tracks, bytes }: Size): string =>
  `${countText(slices)} slices on ${countText(tracks)} tracks, ${bytesText(bytes)}`;

export function countText(count: number): string {
  if (count >= 1e6) return `${(count / 1e6).toFixed(count < 10e6 ? 1 : 0)} million`;
  return count >= 10_000 ? `${Math.round(count / 1e3)} thousand` : `${Math.round(count)}`;
}

export function bytesText(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes >= 1e6 ? `${Math.round(bytes / 1e6)} MB` : `${Math.max(1, Math.round(bytes / 1e3))} kB`;
}
