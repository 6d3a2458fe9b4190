/**
 * Puts the rank files of several processes into one, as if one process had their GPUs (JAX, ncclCommInitAll). The loopback has one rank per process.
 * The files are texts meanwhile: the rings of the others become further rings of the first, with other numbers and on its counter.
 */

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Program = (args: readonly string[]) => Promise<string>;

/** Ranks with one quotient by `size` get one process. `files`: names of the rank files by rank. Files that lie elsewhere are made of them. */
export async function joinProcesses(
  folder: string,
  files: readonly string[],
  size: number,
  copy: string,
  program: Program,
): Promise<void> {
  const texts: string[] = [];
  for (const name of files) texts.push(await program(['text', join(folder, name)]));
  const joined = texts.flatMap((first, rank) =>
    rank % size === 0 ? [joinTexts([first, ...texts.slice(rank + 1, rank + size)])] : [],
  );
  const text = join(folder, '..', 'joined.txt');
  writeFileSync(text, ['nccl-trace rank files as text 1', ...joined].join('\n'));
  await program(['text', text, '-o', copy]);
  rmSync(text);
}

/** The first file with the communicators, strings and rings of all. */
function joinTexts(texts: readonly string[]): string {
  const [first, ...others] = texts.map(partsOf);
  const start = startOf(first!.head);
  const ringsOfEach = first!.areas.filter(isRing).length;
  const rings = [first!.areas.filter(isRing)];
  const comms = [first!.areas.find(isComms)!];
  others.forEach((other, i) => {
    const moved = moverOf(i + 1, first!.areas.length + i * ringsOfEach, startOf(other.head) - start);
    rings.push(other.areas.filter(isRing).map((area) => area.map(moved)));
    const [, ...records] = other.areas.find(isComms)!;
    // Behind the records of the processes before.
    comms[0]!.push(...records.map((line) => moved(line).replace(/^\d+ /, '')));
  });
  const tables = first!.areas.filter((area) => !isRing(area) && !isComms(area));
  return [first!.head, comms[0]!, ...tables, ...rings.flat()].flat().join('\n');
}

type Area = string[];

const isRing = ([line]: Area): boolean => /^area \d+ Ring/.test(line!);
const isComms = ([line]: Area): boolean => line!.includes(' TableCommunicators ');

function partsOf(text: string): { readonly head: string[]; readonly areas: Area[] } {
  const [, ...lines] = text.trimEnd().split('\n');
  const areas: Area[] = [];
  const head: string[] = [];
  for (const line of lines) {
    if (line.startsWith('area ')) areas.push([]);
    (areas.at(-1) ?? head).push(line);
  }
  return { head, areas };
}

const startOf = (head: readonly string[]): bigint =>
  BigInt(head.find((line) => line.startsWith('startTick '))!.split(' ')[1]!);

/** A line of the `i`-th other process, as one of the first. Each has one communicator, and its rings are the first areas. */
const moverOf =
  (i: number, area: number, ticks: bigint) =>
  (line: string): string =>
    line
      .replace(/^area (\d+)/, (_, ring: string) => `area ${Number(ring) + area}`)
      .replace(/^(\d+ )(\d+)/, (_, position: string, tick: string) => position + String(BigInt(tick) + ticks))
      .replace(/lastTick=(\d+)/g, (_, tick: string) => `lastTick=${BigInt(tick) + ticks}`)
      .replace(/=(\d+):(\d+)/g, (_, ring: string, at: string) => `=${Number(ring) + area}:${at}`)
      .replace(/ comm=(\d+)/g, (_, comm: string) => ` comm=${Number(comm) + i}`);
