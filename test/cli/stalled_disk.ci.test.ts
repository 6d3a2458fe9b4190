/** A disk that stops answering in mid-read: the file is named, and the program ends by itself or by Ctrl-C. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

import { PROGRAM, withoutProgress } from '../support/program/program.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sample = path.join(root, 'samples/hang');
const folder = folderOfFile();
const disk = path.join(folder, 'disk');
mkdirSync(disk);
const output = path.join(folder, 'run.pftrace');

/**
 * Rank 0 of the sample is on a disk that answers reads in its first `bytes` only. `end`: what is done once the program has said `word`; then
 * the disk's server is killed, because the kernel keeps the program until then.
 */
function onHangingDisk(bytes: number, patience: number, word: string, end: string, args: readonly string[]) {
  const script = `
    python3 "$1/test/support/program/hanging_disk.py" "$2" "$3/rank00000.bin" ${bytes} & server=$!
    until grep -q hanging /proc/mounts; do kill -0 $server 2>/dev/null || exit 77; sleep 0.05; done
    said=$4; shift 4; : >"$said"; "$@" 2>"$said" & program=$!
    until grep -q "${word}" "$said"; do kill -0 $program 2>/dev/null || break; sleep 0.05; done
    ${end}; kill -9 $server; wait $program`;
  const own = [root, disk, sample, path.join(folder, 'said'), ...args];
  const env = { ...process.env, NCCL_TRACE_READ_PATIENCE_S: String(patience) };
  const { status } = spawnSync('unshare', ['-rm', 'sh', '-c', script, 'sh', ...own], {
    env,
    timeout: 600_000,
  });
  return { code: status, err: existsSync(own[3]!) ? withoutProgress(readFileSync(own[3]!, 'utf8')) : '' };
}

const canMount = onHangingDisk(0, 1, '', ':', ['true']).code === 0;
const canWatch = existsSync(path.join(root, 'build/nccl-trace-decoder.node'));
const rank0 = path.join(disk, 'rank00000.bin');
const others = [2, 3].map((rank) => path.join(sample, `rank0000${rank}.bin`));

describe.skipIf(!canMount || !canWatch)(
  'a disk that hangs (skipped where FUSE or the addon is missing)',
  () => {
    it.each([
      ['at the first byte', 0, 1],
      ['in mid-file', 16384, 1],
      ['in mid-file, on a thread of several', 16384, 2],
    ])('%s: the file is named, then the program ends with 3', (_, bytes, jobs) => {
      const files = [rank0, ...others];
      const args = [process.execPath, PROGRAM, 'merge', ...files, '-o', output, '--jobs', String(jobs)];
      const { code, err } = onHangingDisk(bytes, 3, '; ended', ':', args);
      expect(err.split('\n')).toEqual([
        `nccl-trace: ${rank0}: a read has not come back for 1 s; waiting up to 3 s`,
        `nccl-trace: ${rank0}: a read has not come back for 3 s; ended: leave the file out, or copy it from a healthy disk`,
        '',
      ]);
      expect(code).toBe(3);
      expect(existsSync(output)).toBe(false);
    });

    it('a signal ends the program once the file is named; with --redact it is not named', () => {
      const args = [process.execPath, PROGRAM, 'inspect', disk, '--redact'];
      const { code, err } = onHangingDisk(16384, 12, 'waiting', 'kill $program', args);
      expect(err).toMatch(/^nccl-trace: another path: a read has not come back for 2 s; [^\n]*\n$/);
      expect(code).toBe(143);
    });
  },
);
