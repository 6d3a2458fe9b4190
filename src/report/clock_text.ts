/** Quality of the clocks as text: for the closing report of `merge`, and the table of `nccl-trace clocks`. */

import { addTo } from '../base/grouped.js';
import { maxOf } from '../base/extremes.js';
import type { ClockReport, TrafficReport } from './clock_report.js';
import { foldRanks, printable } from './text.js';
import { textTable } from './text_table.js';

export interface ClockFindings {
  readonly clocks: readonly ClockReport[];
  readonly traffic: TrafficReport | null;
}

/** Lines of the closing report. */
export function clockLines({ clocks, traffic }: ClockFindings): string[] {
  const lines = [...headline(clocks, traffic), ...flagLines(clocks), ...oneSidedLines(clocks)];
  if (!traffic) return lines;
  const { backwards, mismatched } = traffic.brokenArrows;
  const dropped = Object.values(traffic.dropped).reduce((sum, count) => sum + count, 0);
  if (dropped > 0)
    lines.push(
      `clocks: ${dropped} of ${traffic.pairs + dropped} transfers were no evidence (${causes(traffic)})`,
    );
  if (traffic.sampledOut > 0)
    lines.push(
      `clocks: ${traffic.pairs + dropped} of ${traffic.pairs + dropped + traffic.sampledOut} transfers were compared, a share of each connection`,
    );
  if (!traffic.credits)
    lines.push(
      'clocks: receivers that were ready contradict the data they received: the data is believed, because a network may take a send before',
    );
  if (backwards > 0) lines.push(`clocks: ${backwards} arrows would point backwards and are not drawn`);
  if (mismatched > 0) lines.push(`clocks: ${mismatched} transfers whose ends disagree have no arrow`);
  for (const { from, to, byNs } of traffic.unlike.slice(0, 3)) {
    const comparison = byNs > 0 ? 'slower' : 'faster';
    lines.push(
      `clocks: ${printable(from)} to ${printable(to)} is ${us(Math.abs(byNs))} us ${comparison} than similar links`,
    );
  }
  return lines;
}

function headline(clocks: readonly ClockReport[], traffic: TrafficReport | null): string[] {
  if (clocks.length === 1) return ['clocks: one counter for all ranks, exact'];
  const byTraffic = clocks.filter(({ source }) => source === 'traffic');
  const byWall = clocks.filter(({ source }) => source !== 'traffic');
  const lines: string[] = [];
  if (byTraffic.length > 0) {
    const worst = (pick: (clock: ClockReport) => number | null): number =>
      maxOf(byTraffic.map((clock) => pick(clock) ?? Infinity));
    const how = traffic?.alike.measured === null ? 'assumed' : 'measured';
    lines.push(
      `clocks: ${byTraffic.length} hosts by ${traffic?.pairs ?? 0} transfers: ` +
        `99 % ${us(worst((c) => c.bound99))} us (${how}), hard ${us(worst((c) => c.hardBound))} us`,
    );
  }
  if (byWall.length === clocks.length)
    lines.push(
      `clocks: ${clocks.length} hosts placed by their wall clocks (NTP): error unknown, no arrows between them`,
    );
  else if (byWall.length > 0)
    lines.push(
      `clocks: wall clock only, error unknown, no arrows: ${fewHosts(byWall.map(({ host }) => host))}`,
    );
  return lines;
}

/** Flag → its hosts, without the facts in the lines above. */
function flagLines(clocks: readonly ClockReport[]): string[] {
  const hosts = new Map<string, string[]>();
  for (const { flags, host } of clocks) {
    for (const flag of flags) {
      if (flag !== 'realtime-only') addTo(hosts, flag, host);
    }
  }
  return [...hosts].map(([flag, names]) => `clocks: ${flag} on ${fewHosts(names)}`);
}

/** For a few hosts: what traffic in one direction shows. */
function oneSidedLines(clocks: readonly ClockReport[]): string[] {
  const heard = clocks.flatMap(({ host, oneSided }) => (oneSided ? [{ host, oneSided }] : []));
  const lines = heard.slice(0, 3).map(({ host, oneSided: { host: other, late, early } }) => {
    const sides = [side(late, 'late', 'early'), side(early, 'early', 'late')].filter((text) => text !== null);
    return `clocks: ${printable(host)} against ${printable(other)}: ${sides.join(', ')}, by messages one way`;
  });
  return heard.length > 3
    ? [...lines, `clocks: the same for ${heard.length - 3} more hosts (--json)`]
    : lines;
}

const side = (ns: number | null, same: string, other: string): string | null => {
  if (ns === null) return null;
  return ns >= 0 ? `at most ${us(ns)} us ${same}` : `at least ${us(-ns)} us ${other}`;
};

function fewHosts(hosts: readonly string[]): string {
  const names = [...new Set(hosts)].map(printable);
  return names.length <= 3
    ? names.join(', ')
    : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;
}

function causes({ dropped }: TrafficReport): string {
  const texts: Readonly<Record<keyof TrafficReport['dropped'], string>> = {
    single: 'other end lost',
    sizesDiffer: 'sizes differ',
    operationsDiffer: 'operations differ',
    sizeLost: 'size lost',
    unconfirmed: 'work unknown',
  };
  return (Object.keys(texts) as (keyof TrafficReport['dropped'])[])
    .filter((cause) => dropped[cause] > 0)
    .map((cause) => `${texts[cause]}: ${dropped[cause]}`)
    .join(', ');
}

/** GPU times are on their hosts' clocks. They have a bound of their own, in addition to the host's bound. */
function gpuLines(clocks: readonly ClockReport[]): string[] {
  const gpus = clocks.flatMap((clock) => clock.gpus ?? []);
  if (gpus.length === 0) return [];
  const worst = (side: 'late' | 'early'): string => {
    const unbounded = gpus.filter((gpu) => gpu[side] === null).length;
    const known = gpus.flatMap((gpu) => gpu[side] ?? []);
    const most = known.length === 0 ? '' : `at most ${us(maxOf(known))} us ${side}`;
    const none = `${side} by a time that is not known on ${unbounded}`;
    return [most, unbounded === 0 ? '' : none].filter((text) => text !== '').join(', ');
  };
  return [
    `clocks: kernels of ${gpuCount(gpus)} against their hosts: ${worst('late')}; ${worst('early')} (hard)`,
  ];
}

/** For a process with several GPUs NCCL reports ranks of communicators, not the number of GPUs. */
function gpuCount(gpus: NonNullable<ClockReport['gpus']>): string {
  const ranks = gpus.filter(({ commId }) => commId !== undefined).length;
  const single = gpus.length - ranks;
  const texts = [single === 1 ? '1 GPU' : `${single} GPUs`, `${ranks} ranks of communicators`];
  return texts.filter((_, i) => [single, ranks][i]! > 0).join(' and ');
}

/** The kinds of evidence, in the table's order. */
const KINDS = ['data', 'credit', 'collective'] as const;

/** The table of `nccl-trace clocks`. */
export function clockTable(findings: ClockFindings): string {
  const kinds = KINDS.filter((kind) => findings.clocks.some(({ evidence }) => (evidence[kind] ?? 0) > 0));
  const titles = ['drift ppm', 'wander ppm/min', '99 % us', 'hard us', ...kinds, 'violations'];
  const columns = [
    ...['host', 'ranks', 'by'].map((title) => ({ title })),
    ...titles.map((title) => ({ title, isNumber: true })),
    { title: 'flags' },
  ];
  const rows = findings.clocks.map((clock) => [
    clock.host,
    foldRanks(clock.ranks),
    clock.source,
    clock.driftPpm.toFixed(2),
    clock.wanderPpmPerMinute === null ? '' : clock.wanderPpmPerMinute.toFixed(2),
    bound(clock.bound99),
    bound(clock.hardBound),
    ...kinds.map((kind) => String(clock.evidence[kind] ?? 0)),
    String(clock.violations),
    clock.flags.join(' '),
  ]);
  return (
    textTable(columns, rows) +
    [
      ...clockLines(findings),
      ...gpuLines(findings.clocks),
      ...(findings.traffic?.leftOut ?? []).map((text) => `problem: ${printable(text)}`),
    ]
      .map((line) => `${line}\n`)
      .join('')
  );
}

const us = (ns: number): string => (ns < 10e3 ? (ns / 1e3).toFixed(1) : (ns / 1e3).toFixed(0));
const bound = (ns: number | null): string => (ns === null ? 'unknown' : us(ns));
