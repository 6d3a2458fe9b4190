/**
 * The loopback's own account of what it did, one file per rank (tools/loopback/README.md). It shares nothing with the
 * recording: the loopback writes it, and the plugin sees only callbacks.
 */

import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface TruthLine {
  kind: 'process' | 'gpu' | 'comm' | 'coll' | 'p2p' | 'proxyOp' | 'pxnOp' | 'totals';
  [field: string]: unknown;
}

export interface ProxyOpTruth extends TruthLine {
  task: number;
  comm: string;
  channel: number;
  peer: number;
  isSend: boolean;
  ordinal: number;
  nSteps: number;
  stepsDone: number;
  bytes: number;
  completed: boolean;
  /** With PXN: the world rank for which it was executed. `rank` then means that rank, too. */
  origin?: number;
}

/** A collective or a send/receive. */
export interface TaskTruth extends TruthLine {
  task: number;
  iteration: number;
  comm: string;
  func: string;
  /** What moves the data. NCCL reports all events only for a kernel with connections. */
  engine: 'kernel' | 'copy engine' | 'symmetric';
  /** Collectives only; null if unreported. */
  seq?: number | null;
  /** Send/receive only. */
  peer?: number;
  /** Elements. */
  count: number;
  /** NCCL made no Coll or P2p event of it, whatever the plugin asked for. */
  unreported: boolean;
  graph: 'none' | 'captured' | 'replay';
  /** CLOCK_MONOTONIC. */
  startNs: number;
  begunNs: number | null;
  endNs: number | null;
  completed: boolean;
}

/** Callbacks made so far. */
export interface TotalsTruth extends TruthLine {
  final: boolean;
  inits: number;
  finalizes: number;
  starts: Record<string, number>;
  states: Record<string, number>;
  stops: number;
}

export function readTruth(folder: string, rank: number): TruthLine[] {
  const text = readFileSync(path.join(folder, `truth-${rank}.jsonl`), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as TruthLine);
}

export function proxyOpsOf(lines: readonly TruthLine[]): ProxyOpTruth[] {
  return lines.filter((line): line is ProxyOpTruth => line.kind === 'proxyOp');
}

export function tasksOf(lines: readonly TruthLine[]): TaskTruth[] {
  return lines.filter((line): line is TaskTruth => line.kind === 'coll' || line.kind === 'p2p');
}

/** What NCCL reported to the plugin. */
export function reportedOf(lines: readonly TruthLine[]): { tasks: TaskTruth[]; ops: ProxyOpTruth[] } {
  const tasks = tasksOf(lines).filter(({ unreported }) => !unreported);
  const reported = new Set(tasks.map(({ task }) => task));
  return { tasks, ops: proxyOpsOf(lines).filter(({ task }) => reported.has(task)) };
}

/** The newest account. */
export function totalsOf(lines: readonly TruthLine[]): TotalsTruth {
  return lines.filter((line): line is TotalsTruth => line.kind === 'totals').at(-1)!;
}
