// What `study` costs for a large run: `npm run bench:study [-- --ranks 32,128,512,1024] [--iterations 2400] [--scans A.scan,B.scan]`.
//
// Eight ranks are recorded with full rings, scanned, and multiplied to hosts of eight ranks each (bench/study/multiply.ts). `--scans` takes
// other scans of one run instead; each must lack a rank of the run, because a scan of all ranks on one host keeps fewer transfers. Printed
// are CPU time, wall time and the peak of memory of the command, a process of its own, and the size of scans against rank files.

import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { command } from './command.mjs';
import { importTypeScript, record } from './tools.mjs';

const { values } = parseArgs({
  options: {
    ranks: { type: 'string', default: '32,128,512,1024' },
    iterations: { type: 'string', default: '2400' },
    scans: { type: 'string' },
  },
});
const RECORDED = 8;
const megabytes = (files) => (files.reduce((sum, file) => sum + statSync(file).size, 0) / 1e6).toFixed(1);
const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-bench-'));
process.stderr.write('about a minute to record and scan, then up to a minute per size\n');
try {
  const scans = values.scans?.split(',') ?? scanRecorded();
  const { multiplyScans } = await importTypeScript('bench/study/multiply.ts');
  for (const ranks of values.ranks.split(',').map(Number)) {
    const own = path.join(folder, String(ranks));
    mkdirSync(own);
    const inputs = await multiplyScans(scans, own, ranks / RECORDED);
    const output = path.join(own, 'run.study');
    const { cpu, wall, mebibytes } = command(['study', ...inputs, '-qfo', output]);
    console.log(
      `${String(ranks).padStart(5)} ranks: ${cpu.toFixed(1)} s of CPU time, ${wall.toFixed(1)} s of wall time, ` +
        `${mebibytes.toFixed(0)} MiB; scans ${megabytes(inputs)} MB, study ${megabytes([output])} MB`,
    );
    rmSync(own, { recursive: true });
  }
} finally {
  rmSync(folder, { recursive: true });
}

function scanRecorded() {
  const args = `--ranks ${RECORDED} --channels 4 --timeout 900 --iterations ${values.iterations} --ops allreduce:4M,allreduce:64K*4`;
  const files = record(path.join(folder, 'run'), args, { NCCL_TRACE_RING_MB: '64' });
  const scans = [files.slice(0, RECORDED / 2), files.slice(RECORDED / 2)].map((shard, i) => {
    const output = path.join(folder, `${i}.scan`);
    const { cpu } = command(['scan', ...shard, '-qo', output]);
    console.log(`${cpu.toFixed(1)} s of CPU time for a scan of ${shard.length} files`);
    return output;
  });
  const share = (100 * Number(megabytes(scans))) / Number(megabytes(files));
  console.log(`${files.length} files, ${megabytes(files)} MB; scans ${share.toFixed(2)} % of them`);
  return scans;
}
