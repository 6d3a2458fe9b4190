/** All classes of runs with a fault. */

import { CALL_FAULTS } from './call_faults.js';
import { CHOICES } from './compared.js';
import { DUMP_FAULTS } from './dumps.js';
import { FILE_FAULTS } from './file_faults.js';
import { PROCESS_FAULTS } from './process_faults.js';
import { RECOVERY_FAULTS } from './recovery.js';
import type { DrawCase } from './scenes.js';
import { SLOW_FAULTS } from './slow_faults.js';
import { STUCK_FAULTS } from './stuck_faults.js';

export const FAULTS: Readonly<Record<string, DrawCase>> = {
  ...CALL_FAULTS,
  ...PROCESS_FAULTS,
  ...STUCK_FAULTS,
  ...SLOW_FAULTS,
  ...FILE_FAULTS,
  ...RECOVERY_FAULTS,
  ...DUMP_FAULTS,
  ...CHOICES,
};
