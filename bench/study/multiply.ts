/**
 * Makes the scans of a large run of those of a recorded one, because a thousand ranks do not fit onto one machine. Each copy of the recorded
 * ranks is a host of its own, with its own boot id, wall clock and ranks. The world is one ring: what went from the last recorded rank to the
 * first goes to the next copy, so that transfers connect all hosts. Other communicators stay within their copy. What a copy does, and when by
 * its own clock, is what was recorded.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { append } from '../../src/base/extremes.js';
import { narrow } from '../../src/base/columns.js';
import type { RankScan } from '../../src/scan/scan.js';
import { ROW_WIDTH, STEP_ROW, type StepRows } from '../../src/scan/step_file.js';
import { isKept, mostRows } from '../../src/scan/step_sample.js';
import { stepSections, StepUnpacker, writeSteps } from '../../src/shards/step_rows.js';
import { SectionFile, SectionWriter } from '../../src/shards/sections.js';
import type { StoredScan } from '../../src/shards/stored.js';

interface Recorded {
  readonly stored: StoredScan;
  readonly steps: readonly Uint8Array[];
}

/** Writes a scan for each copy. `scans`: all ranks of one run, with every transfer. Returns the scans' paths. */
export async function multiplyScans(
  scans: readonly string[],
  folder: string,
  copies: number,
): Promise<string[]> {
  const ranks = copies * scans.reduce((sum, path) => sum + filesIn(path), 0);
  const recorded: Recorded[] = [];
  for (const [i, path] of scans.entries())
    append(recorded, readScan(await thinned(path, join(folder, `thinned-${i}`), mostRows(ranks))));
  return Array.from({ length: copies }, (_, copy) => {
    const path = join(folder, `node${String(copy).padStart(4, '0')}.scan`);
    const writer = new SectionWriter(path, 'scan');
    const place = { copy, copies, ranks: recorded.length };
    const files = recorded.map(({ stored }) => renumbered(stored.scan, place));
    writer.value('head', {
      files: files.map((scan) => ({ path: scan.path, bytes: scan.bytes, changed: 0n })),
      problems: [],
      unusable: [],
    });
    recorded.forEach(({ stored, steps }, i) => {
      writer.value('file', { ...stored, scan: files[i]! });
      for (const section of steps) writer.bytes('step', section);
    });
    writer.close();
    return path;
  });
}

function filesIn(path: string): number {
  const file = new SectionFile(path, 'scan');
  const count = file.count('file');
  file.close();
  return count;
}

/** The scan of a larger run keeps fewer transfers (scan/step_sample.ts). Returns the path of such a scan. */
async function thinned(path: string, folder: string, most: number): Promise<string> {
  mkdirSync(folder);
  const file = new SectionFile(path, 'scan');
  const output = join(folder, 'thinned.scan');
  const writer = new SectionWriter(output, 'scan');
  writer.value('head', file.value('head', 0));
  const unpacker = new StepUnpacker();
  let section = 0;
  for (let i = 0; i < file.count('file'); i++) {
    const stored = file.value('file', i);
    const rows = join(folder, `rows-${i}`);
    await unpacker.unpack(file, section, stored.stepSections, rows);
    await unpacker.finish();
    section += stored.stepSections;
    const scan = { ...stored.scan, steps: keepShare(rows, stored.scan.steps, most) };
    writer.value('file', { ...stored, scan, stepSections: stepSections(rows) });
    writeSteps(writer, rows);
  }
  writer.close();
  file.close();
  return output;
}

/** In place. All connections alike: those of a ring have about as many. */
function keepShare(path: string, steps: readonly StepRows[], most: number): StepRows[] {
  const bytes = readFileSync(path);
  const rows = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const at = (row: number, column: number): number => rows[row * ROW_WIDTH + column]!;
  const halved: [number, number] = [0, 0];
  const isIn = (row: number): boolean => isKept(at(row, STEP_ROW.ordinal), at(row, STEP_ROW.step), halved);
  const all = Array.from({ length: rows.length / ROW_WIDTH }, (_, row) => row);
  for (const kind of [0, 1] as const) {
    const own = all.filter((row) => (at(row, STEP_ROW.step) === 0) === (kind === 0));
    while (own.filter(isIn).length > most) halved[kind]++;
  }
  const kept: Uint8Array[] = [];
  let offset = 0;
  const share = steps.map((one): StepRows => {
    const first = one.offset / (8 * ROW_WIDTH);
    const own = all.slice(first, first + one.rows).filter(isIn);
    for (const row of own) kept.push(new Uint8Array(rows.buffer, row * ROW_WIDTH * 8, ROW_WIDTH * 8));
    const from = offset;
    offset += own.length * ROW_WIDTH * 8;
    return {
      ...one,
      rows: own.length,
      sampledOut: one.sampledOut + one.rows - own.length,
      offset: from,
      halved,
    };
  });
  writeFileSync(path, Buffer.concat(kept));
  return share;
}

function readScan(path: string): Recorded[] {
  const file = new SectionFile(path, 'scan');
  let section = 0;
  const read = Array.from({ length: file.count('file') }, (_, i): Recorded => {
    const stored = file.value('file', i);
    const steps = Array.from({ length: stored.stepSections }, () => file.bytes('step', section++));
    return { stored, steps };
  });
  file.close();
  return read;
}

interface Place {
  readonly copy: number;
  readonly copies: number;
  /** Recorded ones. */
  readonly ranks: number;
}

function renumbered(scan: RankScan, place: Place): RankScan {
  const { copy, copies, ranks } = place;
  if (scan.foreignOps.length + scan.endlessConnections.length > 0)
    throw new Error(`${scan.path}: has PXN or endless connections, which cannot be renumbered`);
  const world = scan.communicators[0]!;
  const own = world.rank;
  const peerInWorld = (peer: number): number => {
    const step = own === ranks - 1 && peer === 0 ? ranks : own === 0 && peer === ranks - 1 ? -ranks : 0;
    return (peer + copy * ranks + step + copies * ranks) % (copies * ranks);
  };
  const peerOf = (comm: number | null, peer: number): number =>
    comm === world.number && peer >= 0 ? peerInWorld(peer) : peer;
  const commId = (id: bigint): bigint => (id === world.commId ? id : id + BigInt(copy));
  const keys = new Map(scan.communicators.map((comm) => [String(comm.commId), String(commId(comm.commId))]));
  const aside = <T extends { readonly realtime: bigint }>(sample: T): T => ({
    ...sample,
    realtime: sample.realtime + WALL_CLOCK_APART * BigInt(copy),
  });
  const withPeer = <T extends { readonly comm: number; readonly peer: number }>(one: T): T => ({
    ...one,
    peer: peerOf(one.comm, one.peer),
  });
  const { header, works, pending, size, transfers } = scan;
  const peers = Array.from({ length: works.peer.length }, (_, row) =>
    peerOf(works.comm[row]!, works.peer[row]!),
  );
  return {
    ...scan,
    path: `/node${copy}/rank${String(own + copy * ranks).padStart(5, '0')}.bin`,
    header: {
      ...header,
      rank: own + copy * ranks,
      worldSize: copies * ranks,
      hostName: `node${copy}`,
      ncclHostId: `node${copy}`,
      startRealtime: header.startRealtime + WALL_CLOCK_APART * BigInt(copy),
      process: { ...header.process, bootId: (copy + 1).toString(16).padStart(32, '0') },
    },
    communicators: scan.communicators.map((comm) =>
      comm === world
        ? { ...comm, rank: own + copy * ranks, nRanks: copies * ranks, nNodes: copies }
        : { ...comm, commId: commId(comm.commId) },
    ),
    heartbeat: scan.heartbeat && aside(scan.heartbeat),
    clockSamples: scan.clockSamples.map(aside),
    works: { ...works, peer: narrow(peers) },
    pending: {
      ...pending,
      works: pending.works.map((work) => ({
        ...work,
        ops: work.ops.map((op) => ({ ...op, peer: peerOf(work.comm, op.peer) })),
      })),
    },
    size: { ...size, comms: size.comms.map((one) => ({ ...one, comm: keys.get(one.comm) ?? one.comm })) },
    transfers: { ...transfers, ends: transfers.ends.map(withPeer) },
    steps: scan.steps.map((rows) => {
      if (rows.commId !== world.commId) return { ...rows, commId: commId(rows.commId) };
      const [mine, other] = rows.isSend ? [rows.source, rows.destination] : [rows.destination, rows.source];
      const [me, peer] = [mine + copy * ranks, peerInWorld(other)];
      const [source, destination] = rows.isSend ? [me, peer] : [peer, me];
      return { ...rows, source, destination };
    }),
  };
}

/** ns, so that wall clocks do not agree. */
const WALL_CLOCK_APART = 37_000n;
