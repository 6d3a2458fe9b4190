/**
 * The verdict on jobs that are recorded anew, where the way in which they are recorded matters. Whom it names for each kind of fault is counted by
 * verdict_bench.ci.test.ts, and said of kept recordings in test/fixtures/cases.
 */

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mergeNext } from '../../src/report/next_command.js';
import { verdictText } from '../../src/report/verdict_text.js';
import { merge } from '../../src/merge.js';
import { diagnose } from '../../src/report/diagnosis.js';
import { suspects } from '../../src/verdict/facts/suspects.js';
import type { Behind, Verdict } from '../../src/verdict/types.js';
import { record, startRecording } from '../support/jobs/loopback.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

const folder = folderOfFile();

async function verdictOn(name: string, args: string, settings: Readonly<Record<string, string>> = {}) {
  mkdirSync(join(folder, name));
  return judged((await record(join(folder, name), args, settings)).folder);
}

/** Read again and again, while the job goes on, until `isThere`; at the latest when it has ended. */
async function verdictOnceIn(
  name: string,
  args: string,
  settings: Readonly<Record<string, string>>,
  isThere: (found: Awaited<ReturnType<typeof judged>>) => boolean,
) {
  const { ended, end } = startRecording(join(folder, name), args, settings);
  let isOver = false;
  void ended.then(() => (isOver = true));
  const recording = join(folder, name, 'recording');
  try {
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      if (!existsSync(recording)) continue;
      const found = await judged(recording);
      if (isThere(found)) return found;
    }
    return await judged(recording);
  } finally {
    end();
    await ended;
  }
}

const behindIn = (verdict: Verdict): readonly Behind[] =>
  verdict.kind === 'unclear' ? (verdict.unclear.idle?.behind ?? []) : [];

async function judged(recording: string) {
  // Whether a rank is still alive must not matter: it depends on when its file is read.
  const diagnosis = await diagnose([recording], { hungAfter: 1 });
  const { verdict } = diagnosis;
  const hang = verdict.kind === 'hung' ? verdict.hang : undefined;
  return {
    recording,
    verdict,
    hang,
    text: verdictText(diagnosis, [mergeNext(diagnosis, [recording])]).join('\n'),
  };
}

/** At the same time, because they mostly sleep. */
describe.concurrent('the verdict on', () => {
  it.each([1, 6])('ranks that all receive before they send: in a circle, with v%i', async (abi) => {
    const args = `--ranks 3 --abi ${abi} --no-comm-names --ops allreduce:64K,recv:64K,send:64K`;
    const isHung = ({ hang }: { readonly hang?: object | undefined }): boolean => hang !== undefined;
    const { verdict, text } = await verdictOnceIn(`circle-${abi}`, args, {}, isHung);
    expect(verdict).toMatchObject({
      kind: 'hung',
      hang: { front: { file: 0, peerFile: 2, isSend: false, done: 0 }, crossed: [] },
    });
    expect(text).toMatch(/in a circle: +rank 0: Recv from 2, then Send to 1\n +rank 2: Recv from 1, then/);
    expect(suspects(verdict)).toEqual([0, 2, 1]);
    // Before v4 NCCL does not report how many ranks a communicator has.
    expect(text).toMatch(
      abi < 4
        ? /^HUNG(?:, then KILLED)? {2}Recv\/Send on 0x\w{16} /
        : /^HUNG(?:, then KILLED)? {2}Recv\/Send on ranks 0-2 /,
    );
  });

  it('a replay of a captured graph that hangs, in stream mode', async ({ expect }) => {
    const { hang } = await verdictOn(
      'graph',
      '--ranks 3 --ops graph{allreduce:128K}*3 --channels 1 --iterations 2 --fault kill:1@1:2 --hang-seconds 4',
      { NCCL_TRACE_EVENTS: 'default', NCCL_TRACE_MODE: 'stream', NCCL_TRACE_RING_MB: '0.25' },
    );
    expect(hang).toMatchObject({ func: 'AllReduce', comm: 'world' });
    // With KernelCh NCCL numbers replays like any other collective.
    expect((hang?.seq ?? 0) + (hang?.replay ?? 0)).toBeGreaterThanOrEqual(3);
    expect(hang?.silent.map(({ file }) => file)).toContain(1);
  });

  it('a stream names its communicators although the job left without closing its files, and its rings are gone', async ({
    expect,
  }) => {
    const rings = join(folder, 'rings');
    mkdirSync(rings);
    const { verdict } = await verdictOn(
      'abrupt',
      '--ranks 4 --ops group{send+recv:256K}*3,allreduce:8K --channels 1 --iterations 19 --exit abrupt',
      { NCCL_TRACE_MODE: 'stream', NCCL_TRACE_RING_MB: '0.5', NCCL_TRACE_RING_DIR: rings },
    );
    expect(verdict.unknownComms).toEqual({ works: 0, files: [] });
    expect(verdict.seen.collectives).toBeGreaterThan(0);
  });

  it('sends that another process executes (PXN) are among the waits', async ({ expect }) => {
    const { hang, text, recording } = await verdictOn(
      'pxn',
      '--ranks 4 --ops allreduce:256K --channels 1 --iterations 3 --pxn 0:2 --fault drop:2@1:3 --hang-seconds 3',
    );
    expect(hang?.front).toMatchObject({ isSend: true });
    expect([hang?.front?.executor, hang?.front?.file]).toContain(2);
    if (hang?.front?.executor === 2) expect(text).toContain('by rank 2 (PXN)');
    const output = join(recording, 'trace.pftrace');
    await merge({ inputs: [recording], output, jobs: 1, hungAfter: 1 });
    const { attributes, tracks } = viewTrace(readFileSync(output), { emptySlices: 'fine' });
    const paths = tracks.map(({ path }) => path.join(' > ').replace(/^(rank \d+) .* > NCCL >/, '$1 >'));
    expect(paths).toContain(attributes['nccl_trace.look_at']);
  });

  it('a hang in a collective that was sampled out: the run is not healthy, and the rank that called less is named', async ({
    expect,
  }) => {
    // As soon as that is known, however long it takes on a busy machine.
    const { verdict, text } = await verdictOnceIn(
      'left-out',
      '--ranks 3 --ops allreduce:64K --channels 1 --iterations 4 --fault skip:2@2 --hang-seconds 50',
      { NCCL_TRACE_SAMPLE: '10' },
      ({ verdict }) =>
        behindIn(verdict).every(({ files }) => files.join() === '2') && behindIn(verdict).length === 1,
    );
    expect(verdict).toMatchObject({ kind: 'unclear', seen: { collectives: 1 } });
    expect(behindIn(verdict)).toMatchObject([
      { comm: 'world', func: 'AllReduce', count: 16384, files: [2], by: 1 },
    ]);
    expect(text).toContain('\n  fewer calls:    rank 2: 1 less on world than others\n');
    expect(text).toContain('\n  looked at:      1 of 10 collectives alone');
    expect(text).not.toContain('everything');
  });
});
