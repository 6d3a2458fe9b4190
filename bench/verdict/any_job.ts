/** A healthy job of random shape: operations, communicators, releases and modes of NCCL. */

import { ALL_FILES } from './case.js';
import type { Draw } from './draw.js';
import type { Drawn } from './scenes.js';

const SIZES = ['4', '8K', '33K', '64K', '256K', '1M'];
const COLLECTIVES = ['allreduce', 'allgather', 'reducescatter', 'broadcast', 'reduce'];
/** With their shares of the jobs. */
const FLAGS: readonly (readonly [number, string])[] = [
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
];

function someOp(draw: Draw, comms: readonly string[]): string {
  const size = draw.pick(SIZES);
  const on = draw.pick(comms);
  if (draw.chance(0.1)) return `alltoall${on}:${size}`;
  const func = draw.pick(COLLECTIVES);
  const how = func === 'allreduce' && draw.chance(0.2) ? '/tree' : '';
  return `${func}${on}:${size}${how}${draw.chance(0.2) ? `/${draw.pick(['ll', 'll128', 'simple'])}` : ''}`;
}

function someItem(draw: Draw, comms: readonly string[]): string {
  const kind = draw.next();
  if (kind < 0.1) return `group{send+recv:${draw.pick(SIZES)}}`;
  if (kind < 0.2) return `group{${someOp(draw, comms)}+${someOp(draw, comms)}}`;
  if (kind < 0.3) return `graph{${someOp(draw, comms)}}*${draw.between(1, 3)}`;
  if (kind < 0.4) return `sleep:${draw.between(1, 20)}ms`;
  if (kind < 0.45) return 'sync';
  return `${someOp(draw, comms)}${draw.chance(0.3) ? `*${draw.between(2, 4)}` : ''}`;
}

export function anyJob(draw: Draw): Drawn {
  const ranks = 2 * draw.between(1, 3);
  const grouped = ranks >= 4 && draw.chance(0.5);
  const comms = grouped ? ['', '@tp', '@dp'] : [''];
  const items = Array.from({ length: draw.between(1, 5) }, () => someItem(draw, comms));
  const flags = FLAGS.filter(([share]) => draw.chance(share)).map(([, flag]) => flag);
  if (ranks > 2 && !flags.includes('--registered') && draw.chance(0.15)) flags.push(`--pxn 0:${ranks - 1}`);
  const mode = draw.chance(0.3) ? 'stream' : 'flight';
  const args = [
    `--ranks ${ranks} --channels ${draw.between(1, 3)} --iterations ${draw.between(2, 12)}`,
    `--abi ${draw.chance(0.5) ? 6 : draw.between(1, 7)}`,
    ...(grouped ? [`--groups tp=${ranks / 2} --groups-strided dp=${ranks / 2}`] : []),
    `--ops ${['allreduce:8K', ...items].join(',')}`,
    ...flags,
  ];
  return {
    args: args.join(' '),
    settings: {
      NCCL_TRACE_MODE: mode,
      NCCL_TRACE_RING_MB: draw.pick(['0.0625', '0.5', '8']),
      NCCL_TRACE_EVENTS: draw.pick(['all', 'default', 'coll']),
      NCCL_TRACE_SAMPLE: draw.chance(0.15) ? '3' : '1',
    },
    truth: null,
    look: {
      after: draw.pick([0, 1000]),
      isLive: false,
      how: draw.pick(mode === 'flight' ? ['in place', 'hosts'] : ['in place', 'copy']),
    },
    files: ALL_FILES,
  };
}
