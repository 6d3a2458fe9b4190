/** Random jobs: number of ranks, communicators, the repeated work, NCCL's version, settings. */

import type { Look } from './case.js';
import type { Draw } from './draw.js';

export interface Shape {
  readonly ranks: number;
  readonly channels: number;
  readonly abi: number;
  /** Options for communicators beside the world; '': there are none. */
  readonly groups: string;
  readonly ops: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Rings lie in memory while the job runs, and are copied into the files every 2 s: the default where there is room. */
  readonly inMemory: boolean;
}

/** Placeholder in args and settings for a folder of the run's own, in memory. */
export const MEMORY = 'MEMORY';
export const NODE_MEMORY = `NCCL_TRACE_RING_DIR=${MEMORY}`;

export interface Wishes {
  readonly least?: number;
  readonly most?: number;
  /** Only these; else any. */
  readonly ops?: readonly string[];
  /** NCCL tells of calls from 2.28 on, and of communicators in init from 2.27 on. */
  readonly leastAbi?: number;
  readonly events?: readonly string[];
  /** One of these counts of ranks. */
  readonly ranksOf?: readonly number[];
  readonly abi?: number;
  readonly inMemory?: boolean;
  /** Of consecutive ranks; RANKS stands for all. */
  readonly groups?: string;
  readonly canBeLive?: boolean;
}

/** Mostly small jobs, which show as much and cost less. */
const RANKS = [2, 2, 3, 3, 4, 4, 4, 5, 6, 6, 8, 8, 12, 16, 32];

const OPS = [
  'allreduce:256K',
  'allreduce:64K,allgather:256K',
  'reducescatter:256K,allgather:256K,allreduce:8K',
  'graph{allreduce:128K}*2',
  'group{send+recv:256K},allreduce:64K',
  'broadcast:128K,allreduce:64K*3',
];
const GROUP_OPS = [
  'allreduce@tp:128K*2,allreduce:256K',
  'allreduce@tp:256K,allgather@tp:64K,allreduce:64K',
  'allreduce@tp:64K,reducescatter@dp:128K,allgather@dp:128K,allreduce@world:8K',
];

export function drawShape(draw: Draw, wishes: Wishes = {}): Shape {
  const { least = 2, most = 32, leastAbi = 1 } = wishes;
  const ranks = draw.pick(wishes.ranksOf ?? RANKS.filter((count) => count >= least && count <= most));
  const grouped = wishes.ops === undefined && ranks >= 4 && ranks % 2 === 0 && draw.chance(0.4);
  const newest = draw.chance(0.7) ? 6 : draw.between(1, 7);
  const inMemory = wishes.inMemory ?? draw.chance(0.25);
  const ownGroups =
    wishes.groups === undefined ? '' : `--groups ${wishes.groups.replace('RANKS', String(ranks))}`;
  return {
    ranks,
    channels: draw.between(1, 2),
    abi: wishes.abi ?? Math.max(newest, leastAbi),
    groups: grouped ? `--groups tp=${ranks / 2} --groups-strided dp=${ranks / 2}` : ownGroups,
    inMemory,
    ops: draw.pick(grouped ? GROUP_OPS : (wishes.ops ?? OPS)),
    settings: {
      NCCL_TRACE_MODE: draw.chance(0.25) ? 'stream' : 'flight',
      NCCL_TRACE_RING_MB: draw.pick(['0.5', '4']),
      NCCL_TRACE_EVENTS: draw.pick(wishes.events ?? ['all', 'default']),
      ...(inMemory ? { NCCL_TRACE_RING_DIR: MEMORY } : {}),
    },
  };
}

/** The loopback's options for it. */
export function shapeArgs({ ranks, channels, abi, groups, ops }: Shape, iterations: number): string {
  return [
    `--ranks ${ranks} --channels ${channels} --abi ${abi} --iterations ${iterations}`,
    ...(groups === '' ? [] : [groups]),
    `--ops ${ops}`,
  ].join(' ');
}

/** At once, soon, or late; the files themselves, or copies of them. */
export function drawLook(draw: Draw, { inMemory, settings }: Shape, { canBeLive = true } = {}): Look {
  const isLive = canBeLive && draw.chance(0.35);
  const ways: Look['how'][] = ['in place', 'in place', 'copy', 'snapshot'];
  // Chunks cannot be given another clock.
  if (!isLive && !inMemory && settings.NCCL_TRACE_MODE === 'flight') ways.push('hosts');
  const how = draw.pick(ways);
  if (isLive) return { after: draw.pick(inMemory ? [4500] : [2500, 4000]), isLive, how };
  return { after: draw.chance(0.04) ? 40_000 : draw.pick([0, 0, 1000, 1000, 3000]), isLive, how };
}
