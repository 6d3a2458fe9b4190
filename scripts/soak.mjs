// The recorder in one long job (native/test/soak.cc): threads, communicators, forked children, closing and opening, neighbours that are
// killed. Ten minutes, or the given number of seconds: `npm run soak [-- 3600]`.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const seconds = Number(process.argv[2] ?? 600);
if (!(seconds >= 1 && seconds <= 86_400)) {
  console.error(`${process.argv[2]}: not a number of seconds from 1 to 86400`);
  process.exit(2);
}
const build = fileURLToPath(new URL('../build', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-soak-'));
try {
  const args = [path.join(build, 'libnccl-profiler-trace.so'), path.join(folder, 'run'), String(seconds)];
  const { status, signal } = spawnSync(path.join(build, 'soak'), args, {
    env: { PATH: process.env.PATH },
    stdio: 'inherit',
    // It awaits its neighbours' rings at the end.
    timeout: (seconds + 300) * 1_000,
    killSignal: 'SIGKILL',
  });
  if (signal !== null) console.error(`ended by ${signal}`);
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
