/** Jobs for the loopback, drawn by chance: healthy ones of all shapes, and such with one fault whose culprit is known. */

import type { Random } from './simulated_links.js';

export interface Job {
  /** The loopback's options. */
  readonly words: string;
  /** NCCL_TRACE_*. */
  readonly settings: Readonly<Record<string, string>>;
  /** Afterwards each rank gets a host and a clock of its own. */
  readonly hosts: boolean;
}

export type Fault = 'skip' | 'other' | 'kill' | 'stall' | 'drop' | 'slow' | 'lost file';

export interface FaultyJob extends Job {
  readonly fault: Fault;
  /** Whose fault it is: its rank in the world. */
  readonly culprit: number;
  readonly ranks: number;
}

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
const between = (random: Random, least: number, most: number): number =>
  least + Math.floor(random() * (most - least + 1));
const chance = (random: Random, share: number): boolean => random() < share;

const SIZES = ['4', '8K', '33K', '64K', '256K', '1M'] as const;
const COLLECTIVES = ['allreduce', 'allgather', 'reducescatter', 'broadcast', 'reduce'] as const;

function someOp(random: Random, comms: readonly string[]): string {
  const size = pick(random, SIZES);
  const on = pick(random, comms);
  if (chance(random, 0.1)) return `alltoall${on}:${size}`;
  const func = pick(random, COLLECTIVES);
  const how = func === 'allreduce' && chance(random, 0.2) ? '/tree' : '';
  return `${func}${on}:${size}${how}${chance(random, 0.2) ? `/${pick(random, ['ll', 'll128', 'simple'])}` : ''}`;
}

function someItem(random: Random, comms: readonly string[]): string {
  const kind = random();
  if (kind < 0.1) return `group{send+recv:${pick(random, SIZES)}}`;
  if (kind < 0.2) return `group{${someOp(random, comms)}+${someOp(random, comms)}}`;
  if (kind < 0.3) return `graph{${someOp(random, comms)}}*${between(random, 1, 3)}`;
  if (kind < 0.4) return `sleep:${between(random, 1, 20)}ms`;
  if (kind < 0.45) return 'sync';
  return `${someOp(random, comms)}${chance(random, 0.3) ? `*${between(random, 2, 4)}` : ''}`;
}

/** Its ranks are an even number of 2 to 6. */
export function healthyJob(random: Random): Job {
  const ranks = 2 * between(random, 1, 3);
  const groups = chance(random, 0.5)
    ? ` --groups tp=${ranks / 2 || 1} --groups-strided dp=${ranks / 2 || 1}`
    : '';
  const comms = groups === '' || ranks < 4 ? [''] : ['', '@tp', '@dp'];
  const items = Array.from({ length: between(random, 1, 5) }, () => someItem(random, comms));
  const abi = chance(random, 0.5) ? 6 : between(random, 1, 7);
  const flags = [
    [0.15, '--non-blocking'],
    [0.2, '--net socket'],
    [0.1, '--irecv-busy 2'],
    [0.1, '--no-comm-names'],
    [0.1, '--plan-tasks 2'],
    [0.1, '--net-events sockets'],
    [0.1, '--registered'],
    [0.05, '--transport collnet'],
    [0.05, '--transport memcpy'],
    [0.05, '--symmetric'],
    [0.05, '--ce'],
    [0.1, '--exit leave'],
    [0.1, '--exit abrupt'],
    [0.05, '--exit hasty'],
  ] as const;
  const chosen = flags.filter(([share]) => chance(random, share)).map(([, flag]) => flag);
  if (ranks > 2 && !chosen.includes('--registered') && chance(random, 0.15))
    chosen.push(`--pxn 0:${ranks - 1}` as never);
  const words =
    `--ranks ${ranks} --channels ${between(random, 1, 3)} --iterations ${between(random, 2, 12)} --abi ${abi}` +
    `${groups} --ops ${['allreduce:8K', ...items].join(',')} ${chosen.join(' ')}`;
  const mode = chance(random, 0.3) ? 'stream' : 'flight';
  const settings = {
    NCCL_TRACE_MODE: mode,
    NCCL_TRACE_RING_MB: pick(random, ['0.0625', '0.5', '8']),
    NCCL_TRACE_EVENTS: pick(random, ['all', 'default', 'coll']),
    NCCL_TRACE_SAMPLE: chance(random, 0.15) ? '3' : '1',
  };
  return { words: words.trim(), settings, hosts: mode === 'flight' && chance(random, 0.35) };
}

export const HANGS: readonly Fault[] = ['skip', 'other', 'kill', 'stall', 'drop', 'lost file'];

/** A job of 3 to 6 ranks in which one goes wrong. */
export function faultyJob(random: Random, fault: Fault = pick(random, [...HANGS, 'slow'])): FaultyJob {
  const ranks = between(random, 3, 6);
  const culprit = between(random, 0, ranks - 1);
  const withTp = ranks % 2 === 0 && chance(random, 0.4);
  const at = between(random, 1, 3);
  const ops = pick(random, [
    'allreduce:256K',
    'allreduce:64K,allgather:256K',
    'reducescatter:256K,allgather:256K,allreduce:8K',
    'graph{allreduce:128K}*2',
    'group{send+recv:256K},allreduce:64K',
    ...(withTp
      ? ['allreduce@tp:128K*2,allreduce:256K', 'allreduce@tp:256K,allgather@tp:64K,allreduce:64K']
      : []),
  ]);
  const step = between(random, 1, 4);
  const wrong: Readonly<Record<Fault, string>> = {
    skip: `--skip-rank ${culprit} --skip-at ${at}`,
    'lost file': `--skip-rank ${culprit} --skip-at ${at}`,
    other: `--other-rank ${culprit} --other-at ${at} --other-ops ${pick(random, ['reduce:256K', 'sleep:1ms', 'broadcast:64K,allreduce:64K'])}`,
    kill: `--kill-rank ${culprit} --kill-at ${at}:${step}`,
    stall: `--stall-rank ${culprit} --stall-at ${at}:${step}`,
    drop: `--drop-rank ${culprit} --drop-at ${at}:${step}`,
    slow: `--slow-rank ${culprit} --slow-us ${between(random, 40, 90) * 1000}`,
  };
  const words =
    `--ranks ${ranks} --channels ${between(random, 1, 2)} --iterations ${fault === 'slow' ? 8 : 5}` +
    `${withTp ? ` --groups tp=${ranks / 2}` : ''} --ops ${ops} ${wrong[fault]} --hang-seconds 3`;
  const mode = chance(random, 0.25) ? 'stream' : 'flight';
  const settings = {
    NCCL_TRACE_MODE: mode,
    NCCL_TRACE_RING_MB: pick(random, ['0.25', '8']),
    NCCL_TRACE_EVENTS: pick(random, ['all', 'default']),
  };
  return { words, settings, hosts: mode === 'flight' && chance(random, 0.25), fault, culprit, ranks };
}
