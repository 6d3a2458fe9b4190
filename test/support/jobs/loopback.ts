/** Records a run of the loopback with the real plugin. */

import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { builtNative } from './native.js';

export const [PLUGIN, LOOPBACK] = await builtNative('libnccl-profiler-trace.so', 'nccl-trace-loopback');

export interface Recording {
  /** Where the rank files are. */
  readonly folder: string;
  /** Where the loopback's own account is (truth.ts). */
  readonly truth: string;
  /** The loopback's exit code: 0 finished, 4 hung as asked. */
  readonly code: number;
}

export interface Running {
  readonly ended: Promise<Recording>;
  /** Asks it to end, if it has not. */
  readonly end: () => void;
}

/** `args`: the loopback's options; `settings`: NCCL_TRACE_*. Rings are large enough for short runs by default. */
export const record = (
  folder: string,
  args: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Recording> => startRecording(folder, args, settings).ended;

/** As `record`, but returns while the job still runs. */
export function startRecording(
  folder: string,
  args: string,
  settings: Readonly<Record<string, string>> = {},
): Running {
  mkdirSync(folder, { recursive: true });
  const truth = join(folder, 'truth');
  const recording = join(folder, 'recording');
  const env = {
    PATH: process.env.PATH,
    NCCL_PROFILER_PLUGIN: PLUGIN,
    NCCL_TRACE_DIR: recording,
    // Rings in the file, so that other tests on this machine have no influence.
    NCCL_TRACE_RING_DIR: 'none',
    NCCL_TRACE_EVENTS: 'all',
    NCCL_TRACE_RING_MB: '8',
    ...settings,
  };
  const all = [...args.split(' '), '--truth', truth, '--quiet'];
  let end = (): void => undefined;
  const ended = new Promise<Recording>((done) => {
    const child = execFile(LOOPBACK, all, { env }, (error, _out, err) => {
      if (error && typeof error.code !== 'number') throw new Error(`${LOOPBACK}: ${error.message}\n${err}`);
      done({ folder: recording, truth, code: Number(error?.code ?? 0) });
    });
    end = () => void child.kill('SIGTERM');
  });
  return {
    ended,
    end: () => {
      end();
    },
  };
}
