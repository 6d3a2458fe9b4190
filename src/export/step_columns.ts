/**
 * The columns of the table of transfers, in order. Transfers are never rows in the host's memory (steps.ts), so no column has a value of a row, as
 * those of report/run_tables.ts have.
 */

import type { Described } from './batch.js';

const columns = (names: string, type: Described['type'], unit = '', isName = true): Described[] =>
  names.split(' ').map((name) => ({ name, unit, type, isName }));

export const STEPS = {
  name: 'steps',
  columns: [
    ...columns('rank peer', 'rank'),
    ...columns('direction comm comm_id', 'text'),
    ...columns('channel', 'whole'),
    ...columns('func', 'text'),
    ...columns('seq work op step', 'whole'),
    ...columns('bytes', 'whole', 'bytes', false),
    ...columns('start_ns end_ns', 'whole', 'ns'),
    ...columns('gpu_wait_ns peer_wait_ns send_wait_ns recv_wait_ns flush_wait_ns', 'whole', 'ns', false),
    ...columns('waits_in', 'text'),
    ...columns('polls', 'whole', '', false),
  ],
} as const;
