// Loaded into a command that is measured (`--import`): leaves what the process used, all its threads together, in the file that
// BENCH_USAGE names. With BENCH_NO_ADDON the addon does not load.

import { readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

if (process.env.BENCH_NO_ADDON)
  process.dlopen = () => {
    throw new Error('no addon in this run');
  };

if (isMainThread)
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage();
    // Not maxRSS of resourceUsage: a child's begins with that of the process that started it.
    const peak = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))[1];
    writeFileSync(
      process.env.BENCH_USAGE,
      JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e6, mebibytes: peak / 1024 }),
    );
  });
