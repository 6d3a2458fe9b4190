/**
 * Parses times, durations and ranks as people write them. A time is in UTC ("2026-03-01T03:02:11.5Z", or a time of day in the run:
 * "03:02:11"), or counts from the trace's start ("90s", "1.5m", "90").
 */

import type { RankRange } from '../base/ranks.js';

export { isInRanges, rangesOf, rangesText, type RankRange } from '../base/ranks.js';

export type AskedTime =
  /** ns after the trace's start. */
  | { readonly kind: 'since-start'; readonly ns: number }
  /** ns since the Unix epoch. */
  | { readonly kind: 'utc'; readonly ns: bigint }
  /** ns since midnight UTC. */
  | { readonly kind: 'time-of-day'; readonly ns: number };

const UNITS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  ms: 1e6,
  s: 1e9,
  '': 1e9,
  m: 60e9,
  min: 60e9,
  h: 3600e9,
};

/** "60s", "1.5m", "250ms", "2h"; a bare number is seconds. In ns; null: no duration. */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/.exec(text.trim());
  const unit = match ? UNITS[match[2]!] : undefined;
  return match && unit !== undefined ? Math.round(Number(match[1]) * unit) : null;
}

/** null: no time. */
export function parseTime(text: string): AskedTime | null {
  const ns = parseDuration(text);
  if (ns !== null) return { kind: 'since-start', ns };
  return parseDate(text.trim()) ?? parseTimeOfDay(text.trim());
}

function parseDate(text: string): AskedTime | null {
  const match =
    /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,9}))?(?:Z| ?UTC|([+-]\d{2}:\d{2}))?$/i.exec(
      text,
    );
  if (!match) return null;
  const ms = Date.parse(`${match[1]}T${match[2]}${match[4] ?? 'Z'}`);
  if (Number.isNaN(ms)) return null;
  return { kind: 'utc', ns: BigInt(ms) * 1_000_000n + BigInt(fraction(match[3])) };
}

function parseTimeOfDay(text: string): AskedTime | null {
  const match = /^(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.(\d{1,9}))?(?:Z| ?UTC)?$/i.exec(text);
  if (!match) return null;
  const [hours, minutes, seconds] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  if (hours > 23 || minutes > 59 || seconds > 60) return null;
  return { kind: 'time-of-day', ns: ((hours * 60 + minutes) * 60 + seconds) * 1e9 + fraction(match[4]) };
}

/** Digits after the point, in ns. */
const fraction = (digits = ''): number => Number(digits.padEnd(9, '0'));

/** "T" or "T,D": the time, and the time around it; `null` if unreadable. */
export function parseAround(text: string): { at: AskedTime; halfNs: number } | null {
  const [time = '', width, ...rest] = text.split(',');
  const at = parseTime(time);
  const halfNs = width === undefined ? AROUND_NS : parseDuration(width.trim().replace(/^(±|\+-|\+\/-)/, ''));
  return at === null || halfNs === null || halfNs === 0 || rest.length > 0 ? null : { at, halfNs };
}

const AROUND_NS = 5e9;

/** "0-7,42"; null: no list of ranks. */
export function parseRanks(text: string): RankRange[] | null {
  const ranges: RankRange[] = [];
  for (const part of text.split(',')) {
    const match = /^\s*(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s*$/.exec(part);
    if (!match) return null;
    const [first, last] = [Number(match[1]), Number(match[2] ?? match[1])];
    if (last < first) return null;
    ranges.push([first, last]);
  }
  return ranges;
}

/** "2026-03-01 03:02:11.500 UTC": for people; milliseconds, cut. */
export function utcText(ns: bigint): string {
  const ms = Number(ns / 1_000_000n);
  const date = new Date(ms);
  return Number.isNaN(date.getTime())
    ? 'an impossible time'
    : `${date.toISOString().replace('T', ' ').slice(0, 23)} UTC`;
}
