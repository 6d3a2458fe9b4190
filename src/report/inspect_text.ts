/** How `inspect` shows a file and its records to a person: lines of at most 80 columns if names allow it. */

import type { DescribedRecord, FileSummary, RingSummary } from '../rankfile/index.js';
import { printable, sizeText, wrapped } from './text.js';
import { textTable } from './text_table.js';

export function summaryText(file: FileSummary): string {
  const lines = [
    `${file.path}  (${bytes(file.bytes)}, format ${file.format.writerVersion})`,
    ...facts(file),
    ...section('communicators', file.communicators.map(communicatorLine)),
    ...ringTable(file.rings),
    ...section('chunks', file.rings.flatMap(chunkLine)),
    ...section('threads', file.leases.map(leaseLine)),
    ...section(
      'records',
      file.kinds.map(({ name, count }) => `${name.padEnd(20)} ${number(count, 12)}`),
    ),
    ...section('still repeating', file.openFolds.map(foldLine)),
    ...section(
      'PROBLEMS',
      file.problems.map(({ what, count }) => `${number(count, 8)} x  ${what}`),
    ),
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

function facts(file: FileSummary): string[] {
  const { process, recorder, clock } = file;
  const rows: [string, string][] = [
    [
      'rank',
      `${process.rank ?? 'unknown'} of ${process.worldSize ?? 'unknown'}${optional(', local', process.localRank)}`,
    ],
    [
      'host',
      `${process.hostName}${optional(', gpu', process.gpu)}${optional(', NCCL_HOSTID', process.ncclHostId)}`,
    ],
    ['process', `${process.program}, pid ${process.pid}${optional(', run', process.runId)}`],
    ['started', `${utc(clock.startRealtime)}, ${clock.source} at ${clock.tickHz / 1e6} MHz`],
    ['life', lifeText(file)],
    ['newest', newestText(file)],
    ['recorder', `${recorder.version}, ${recorder.mode} mode${optional(',', recorder.options)}`],
    ['NCCL', recorder.nccl ?? 'version unknown'],
    ['events', recorder.events.join(' ') || 'none'],
  ];
  if (recorder.eventsNow.join() !== recorder.events.join())
    rows.push(['events now', recorder.eventsNow.join(' ') || 'none']);
  if (recorder.sampleEvery > 1) rows.push(['sampling', `1 of ${recorder.sampleEvery} collectives`]);
  if (recorder.sampleNow !== recorder.sampleEvery)
    rows.push(['sample now', `1 of ${recorder.sampleNow} collectives`]);
  if (recorder.hasChanged)
    rows.push(['changed', 'while it ran: what is missing may not have been asked for']);
  if (file.chunks.count > 0) rows.push(['chunks', chunksText(file.chunks)]);
  if (recorder.ringPath !== '' || recorder.placement !== 'in-file')
    rows.push(['rings', placementText(recorder, file.newest.heartbeat)]);
  const lost = Object.entries(file.lost).filter(([, count]) => count > 0);
  if (lost.length > 0) rows.push(['not kept', lost.map(([what, count]) => `${what} ${count}`).join(', ')]);
  return rows.flatMap(([name, value]) =>
    wrapped(value, 67).map((line, i) => `  ${(i === 0 ? name : '').padEnd(11)}${line}`),
  );
}

const optional = (label: string, value: string | number | null): string =>
  value === null || value === '' ? '' : `${label} ${value}`;

/** "Not closed" is all that the file shows, because a killed process cannot record its death. */
const lifeText = ({ life }: FileSummary): string => (life === 'closed' ? 'closed' : 'recording (not closed)');

/** Ages by the file's own clock, compared with its newest entry and not with the time now. */
function newestText({ newest }: FileSummary): string {
  const ago = (name: string, seconds: number | null): string =>
    seconds === null ? `no ${name}` : `${name} ${((newest.any ?? seconds) - seconds).toFixed(1)} s earlier`;
  if (newest.any === null) return 'nothing';
  return `${at(newest.any)}; ${ago('heartbeat', newest.heartbeat)}, ${ago('record', newest.record)}`;
}

/** Age of a copy, compared with the last sign. The last sign is copied more often than the rings. */
function placementText(recorder: FileSummary['recorder'], heartbeat: number | null): string {
  if (recorder.placement === 'in-file') return `were in ${recorder.ringPath}, saved from there`;
  const where = recorder.placement === 'in-memory' ? 'in memory' : `in ${recorder.ringPath}`;
  if (recorder.copied === null) return `${where}, never copied here`;
  const age =
    heartbeat === null
      ? ''
      : `, ${Math.max(0, heartbeat - recorder.copied).toFixed(1)} s before the last heartbeat`;
  return `${where}, copied here up to ${at(recorder.copied)}${age}`;
}

function chunksText({
  count,
  compressed,
  rawBytes,
  storedBytes,
  dropped,
  missing,
}: FileSummary['chunks']): string {
  const parts = [`${count}, ${compressed} compressed, ${bytes(rawBytes)} of slots in ${bytes(storedBytes)}`];
  if (dropped > 0) parts.push(`${dropped} older ones dropped (disk limit)`);
  if (missing > 0) parts.push(`${missing} between them not found`);
  return parts.join('; ');
}

function chunkLine({ ring, chunks }: RingSummary): string[] {
  if (chunks === null) return [];
  return [`ring ${number(ring, 2)}  ${chunks.count} of them, positions ${chunks.from} to ${chunks.end - 1}`];
}

function communicatorLine(c: FileSummary['communicators'][number]): string {
  const life = c.finalize === null ? `since ${at(c.init)}` : `${at(c.init)} to ${at(c.finalize)}`;
  const size = c.nRanks > 0 ? ` of ${c.nRanks} on ${c.nNodes} nodes` : `, ${sizeText(c.nRanks)}`;
  const ranks = `rank ${c.rank}${size}`;
  return `${number(c.number, 3)}  ${c.name || '(no name)'}  ${ranks}, id ${c.commId}, API v${c.abi}, ${life}`;
}

function leaseLine(lease: FileSummary['leases'][number]): string {
  const end = lease.endPosition === null ? 'on' : `to ${lease.endPosition}`;
  const name = lease.threadName || '(no name)';
  return `ring ${number(lease.ring, 2)}  tid ${lease.tid}  ${name}, positions ${lease.fromPosition} ${end}`;
}

function foldLine(fold: FileSummary['openFolds'][number]): string {
  return `ring ${number(fold.ring, 2)}  ${fold.state} of ${fold.handle}: ${fold.repeats} times, last at ${at(fold.last)}`;
}

const RING_COLUMNS = [
  'ring',
  'class',
  'records',
  'from',
  'last',
  'overwritten',
  'torn',
  'copy',
  'folded',
].map((title) => ({ title, isNumber: true }));

/** The table of the rings. Rare counts follow as text. */
function ringTable(rings: readonly RingSummary[]): string[] {
  const rows = rings.map((ring) => [
    `${ring.ring}`,
    ring.class,
    `${ring.records}`,
    ring.window === null ? '-' : at(ring.window.from),
    ring.window === null ? '-' : at(ring.window.last),
    `${ring.lost.overwritten}`,
    `${ring.lost.torn}`,
    `${ring.lost.copy}`,
    `${ring.folded}`,
  ]);
  const notes = rings.flatMap((ring) => {
    const { muted, nullCalls, ordinalsLost, tornSlots, lost } = ring;
    const counts = Object.entries({
      dropped: lost.dropped,
      muted,
      nullCalls,
      ordinalsLost,
      tornSlots,
    }).filter(([, count]) => count > 0);
    return counts.length === 0
      ? []
      : [`ring ${ring.ring}: ${counts.map(([what, n]) => `${what} ${n}`).join(', ')}`];
  });
  return section(
    'rings (lost: in slots)',
    rings.length === 0 ? [] : [...textTable(RING_COLUMNS, rows).trimEnd().split('\n'), ...notes],
  );
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`  ${title}`, ...lines.map((line) => `    ${line}`)];

/** `+12.345678901 s0:1042 State handle=1:17 state=SendWait value=524288` */
export function recordText(record: DescribedRecord, tickHz: number): string {
  const fields = record.fields.map(([name, value]) => `${name}=${value ?? '-'}`).join(' ');
  const time = (record.tick / tickHz).toFixed(9).padStart(15);
  const place = `${record.ring}:${record.position}`;
  return `${printable(`${time} ${place.padEnd(10)} ${record.name} ${fields}`)}\n`;
}

const number = (value: number, width: number): string => `${value}`.padStart(width);
const at = (seconds: number): string => `${seconds.toFixed(3)} s`;

/** ns since the epoch as decimal text. */
function utc(realtime: string): string {
  const date = new Date(Number(BigInt(realtime) / 1_000_000n));
  return Number.isNaN(date.getTime()) ? 'at an impossible time' : date.toISOString();
}

function bytes(count: number): string {
  return count < 2 ** 20 ? `${(count / 1024).toFixed(1)} KiB` : `${(count / 2 ** 20).toFixed(1)} MiB`;
}
