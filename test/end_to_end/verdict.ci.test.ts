/** The verdict finds the faults that the loopback makes on request, from the files of the real plugin alone. */

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { mergeNext } from '../../src/report/next_command.js';
import { verdictText } from '../../src/report/verdict_text.js';
import { merge } from '../../src/merge.js';
import { diagnose } from '../../src/report/diagnosis.js';
import { suspects } from '../../src/verdict/facts/suspects.js';
import type { Behind, Verdict } from '../../src/verdict/types.js';
import { record, startRecording } from '../support/jobs/loopback.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

const { folder, remove } = temporaryFolder();
afterAll(remove);

/** ms: after this time no heartbeat counts as recent. */
const UNTIL_STALE = 2600;

async function verdictOn(
  name: string,
  args: string,
  settings: Readonly<Record<string, string>> = {},
  wait = 0,
) {
  mkdirSync(join(folder, name));
  const { folder: recording, code } = await record(join(folder, name), args, settings);
  await new Promise((resolve) => setTimeout(resolve, wait));
  return { code, ...(await judged(recording)) };
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
    closed: diagnosis.ranks.flatMap(({ life }, file) => (life === 'closed' ? [file] : [])),
    verdict,
    hang,
    also: verdict.findings.slice(1),
    waiting: hang?.waiting.map(({ file }) => file),
    text: verdictText(diagnosis, [mergeNext(diagnosis, [recording])]).join('\n'),
  };
}

/** Leaves out what differs from run to run, and which end of the link with rank 3 waited longer. */
function timeless(text: string): string[] {
  return text
    .replace(/ \\\n +/g, ' ')
    .replace(/\d\d:\d\d:\d\d UTC/g, 'TIME')
    .replace(/\(\d+\.\d s\)/g, '(AGE)')
    .replace(/\(\S+ gpu/g, '(HOST gpu')
    .replace(/, alive to the end/, ', alive')
    .replace(/(operations: +).*/, '$1...')
    .replace(/(all wait for: +rank ).*/, '$1...')
    .replace(/next \(about .*\): (nccl-trace merge ).*/, 'next (about SIZE): $1...')
    .split('\n');
}

/** At the same time, because they mostly sleep. */
describe.concurrent('the verdict on', () => {
  it.each([1, 4, 6])('ranks that all receive before they send: in a circle, with v%i', async (abi) => {
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

  it('a rank that skips a collective: never entered, and its neighbours wait for it', async ({ expect }) => {
    const { code, hang, also, waiting, text } = await verdictOn(
      'skip',
      '--ranks 4 --ops allreduce:1M --channels 1 --iterations 3 --fault skip:3@1 --hang-seconds 3',
    );
    expect(code).toBe(4);
    expect(waiting).toEqual([0, 1, 2]);
    expect(hang).toMatchObject({
      comm: 'world',
      func: 'AllReduce',
      seq: 1,
      neverEntered: [{ file: 3, stuckIn: null, newest: { func: 'AllReduce', seq: 0 } }],
      front: { peerFile: 3, peerInComm: 3, done: 0 },
      mismatch: null,
      missing: [],
    });
    expect(also).toEqual([]);
    expect(timeless(text)).toEqual([
      'HUNG  AllReduce seq 1 on world (4 ranks): rank 3 never entered it',
      '  stuck:          since TIME (AGE)',
      '  never entered:  rank 3 (HOST gpu3), alive',
      '                  last there: AllReduce seq 0, TIME',
      '  not finished:   3 ranks (0-2)',
      '  operations:     ...',
      '  all wait for:   rank ...',
      '  lost records:   none',
      '  clocks:         one counter for all ranks, exact',
      'next (about SIZE): nccl-trace merge ...',
    ]);
  });

  it('a rank that was killed: it has no heartbeat, and the ranks that wait for its data are named', async ({
    expect,
  }) => {
    const { code, hang, waiting, text } = await verdictOn(
      'kill',
      '--ranks 4 --ops allreduce:1M --channels 1 --iterations 3 --fault kill:2@1:5 --hang-seconds 4',
    );
    expect(code).toBe(4);
    expect(waiting).toEqual([0, 1, 2, 3]);
    expect(hang).toMatchObject({ func: 'AllReduce', seq: 1, neverEntered: [] });
    expect(hang?.front?.peerFile).toBe(2);
    expect(hang?.silent.map(({ file }) => file)).toContain(2);
    expect(text).toContain('\n  no heartbeat:   rank 2 (');
  });

  it('a rank that was killed where no end is recorded: the run is not healthy, and the silent rank is named', async ({
    expect,
  }) => {
    const { code, verdict, text } = await verdictOn(
      'endsNotKnown',
      '--ranks 3 --ops allreduce:1M --channels 1 --iterations 3 --fault kill:1@1:5 --hang-seconds 4',
      { NCCL_TRACE_EVENTS: 'coll' },
    );
    expect(code).toBe(4);
    // Each of them may have been held up before it came to the collective.
    const silent = verdict.kind === 'unclear' ? verdict.unclear.silent : undefined;
    const absent = verdict.kind === 'hung' ? verdict.hang.neverEntered : undefined;
    expect((silent ?? absent)?.map(({ file }) => file)).toContain(1);
    expect(text).toMatch(/\n {2}(no heartbeat|never entered): +/);
  });

  it('a rank that was killed in the last collective, when the others aborted at once', async ({
    expect,
    skip,
  }) => {
    const { code, verdict, hang, text, closed } = await verdictOn(
      'abort',
      '--ranks 4 --ops allreduce:1M --channels 1 --iterations 3 --fault kill:2@2:5 --hang-signal ABORT --hang-seconds 0.2',
      {},
      UNTIL_STALE,
    );
    expect(code).toBe(4);
    // A recorder without CPU time leaves its file open. If all do, the job looks like a killed one.
    expect(closed).not.toContain(2);
    if (closed.length === 0) skip('no recorder closed its file in time');
    // Within a second, but on a busy machine.
    expect(['broken', 'hung']).toContain(verdict.kind);
    const broken = verdict.kind === 'broken' ? verdict.broken : undefined;
    // Others may have been closed that count as neither: before its last sign of life.
    if (broken) {
      expect(broken.left).not.toEqual([]);
      expect(closed).toEqual(expect.arrayContaining([...broken.left]));
    }
    expect((broken?.gone ?? hang?.silent)?.map(({ file }) => file)).toContain(2);
    expect(broken?.stall ?? hang).toMatchObject({ func: 'AllReduce', seq: 2 });
    expect(text).toMatch(/\n {2}(never closed|no heartbeat): /);
  });

  it('a rank that calls another collective: both calls, side by side', async ({ expect }) => {
    const { hang, text } = await verdictOn(
      'other',
      '--ranks 3 --ops allreduce:1M --channels 1 --iterations 2 --fault other:1@1:reducescatter:1M --hang-seconds 3',
    );
    expect(hang).toMatchObject({ func: 'AllReduce', seq: 1, neverEntered: [{ file: 1 }], different: [1] });
    expect(hang?.mismatch).toMatchObject({
      what: 'calls',
      ways: [
        { func: 'AllReduce', entered: [{ file: 0 }, { file: 2 }] },
        { func: 'ReduceScatter', entered: [{ file: 1 }] },
      ],
    });
    expect(text).toContain('\n  differs first:  rank 1: ReduceScatter call 1 (');
  });

  it('a rank that calls with another count, without a hang: a mismatch', async ({ expect }) => {
    const { verdict, text } = await verdictOn(
      'count',
      '--ranks 3 --ops allreduce:1M --channels 1 --iterations 2 --fault other:1@1:allreduce:512K',
    );
    expect(verdict).toMatchObject({
      kind: 'mismatch',
      mismatch: {
        what: 'arguments',
        ways: [
          { count: 262144, entered: [{ file: 0 }, { file: 2 }] },
          { count: 131072, entered: [{ file: 1 }] },
        ],
      },
    });
    expect(text).toMatch(/^MISMATCH {2}on world: the 3 ranks did/);
  });

  it('a link on which nothing arrives any more: both its ends', async ({ expect }) => {
    const { hang } = await verdictOn(
      'drop',
      '--ranks 4 --ops allreduce:1M --channels 1 --iterations 3 --fault drop:2@1:3 --hang-seconds 3',
    );
    expect([hang?.front?.file, hang?.front?.peerFile].sort()).toEqual([2, 3]);
    expect(hang).toMatchObject({ neverEntered: [], silent: [], missing: [] });
  });

  it('a receive that waits in vain: the cause, and not the collective that queues behind it', async ({
    expect,
  }) => {
    const { hang, also } = await verdictOn(
      'p2p',
      '--ranks 3 --ops group{send+recv:256K},allreduce:64K --channels 1 --iterations 3 --fault drop:1@1:1 --hang-seconds 3',
    );
    expect(hang).toMatchObject({ seq: null });
    expect(also).toMatchObject([{ where: { func: 'AllReduce', seq: 1 }, because: 0 }]);
    expect([hang?.front?.file, hang?.front?.peerFile]).toContain(1);
  });

  it('sends that do not arrive though their sender finished them: the cause, and not the collective behind them', async ({
    expect,
  }) => {
    const { hang } = await verdictOn(
      'alltoall',
      '--ranks 6 --ops alltoall:64K,allreduce:8K --channels 1 --iterations 3 --fault drop:1@1:1 --hang-seconds 3',
    );
    // How many came to the collective until then is not known.
    expect(hang).toMatchObject({ seq: null });
    expect([hang?.front?.file, hang?.front?.peerFile]).toContain(1);
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

  it('one group of four in which a rank is missing: the world only waits for it', async ({ expect }) => {
    const { hang, also } = await verdictOn(
      'groups',
      '--ranks 8 --groups tp=4 --ops allreduce@tp:256K*2,allreduce:1M --iterations 3 --fault skip:5@1 --hang-seconds 3',
    );
    expect(hang).toMatchObject({
      comm: 'tp ranks 4-7',
      nRanks: 4,
      neverEntered: [{ file: 5 }],
    });
    expect(also).toMatchObject([{ where: { comm: 'world', seq: 1 }, because: 0 }]);
  });

  it('a job that still runs, from its live files', async ({ expect }) => {
    mkdirSync(join(folder, 'live'));
    const running = record(
      join(folder, 'live'),
      '--ranks 3 --ops allreduce:256K --iterations 3 --fault skip:1@1 --hang-seconds 8',
    );
    await new Promise((resolve) => setTimeout(resolve, 5000));
    const { hang } = await judged(join(folder, 'live', 'recording'));
    await running;
    const { hang: later } = await judged(join(folder, 'live', 'recording'));
    for (const found of [hang, later])
      expect(found).toMatchObject({ func: 'AllReduce', seq: 1, neverEntered: [{ file: 1 }] });
    expect(later!.age).toBeGreaterThan(hang!.age);
  });

  it('a rank that comes late every time: slow', async ({ expect }) => {
    const { code, verdict } = await verdictOn(
      'slow',
      '--ranks 3 --ops allreduce:256K --iterations 8 --slow host:1:60ms',
    );
    expect(code).toBe(0);
    expect(verdict).toMatchObject({
      kind: 'slow',
      slow: { comm: 'world', file: 1, of: 7, worst: { file: 1, func: 'AllReduce' }, clockBound: 0 },
    });
  });

  it('a run with every second collective recorded: judged by that part alone', async ({ expect }) => {
    const { verdict, text } = await verdictOn(
      'sampled',
      '--ranks 2 --ops allreduce:64K --channels 1 --iterations 4',
      { NCCL_TRACE_SAMPLE: '2' },
    );
    expect(verdict).toMatchObject({ sampled: [{ every: 2, files: [0, 1] }], seen: { collectives: 2 } });
    expect(text).not.toContain('everything');
    expect(text).toContain('\n  looked at:      1 of 2 collectives alone\n');
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
  });

  it('a broadcast from another root, if NCCL reports only the call: a mismatch', async ({ expect }) => {
    const { verdict, hang } = await verdictOn(
      'root',
      '--ranks 3 --ops allreduce:8K,broadcast:64K --channels 1 --iterations 3 --fault other:2@1:allreduce:8K,broadcast(1):64K --hang-seconds 3',
    );
    // Later calls may be stuck as well.
    const found = verdict.kind === 'mismatch' ? verdict.mismatch : hang?.mismatch;
    expect(found).toMatchObject({
      call: 3,
      ways: [
        { func: 'Broadcast', seq: null, root: 0, entered: [{ file: 0 }, { file: 1 }] },
        { root: 1, entered: [{ file: 2 }] },
      ],
    });
  });

  it('a healthy run: no alarm', async ({ expect }) => {
    const { code, verdict } = await verdictOn('healthy', '--ranks 4 --ops allreduce:1M --iterations 3');
    expect(code).toBe(0);
    // Who came last most often, where that is worth a line: on a busy machine somebody may.
    const { latest, ...rest } = verdict as unknown as Record<string, unknown>;
    expect(latest).not.toBeUndefined();
    expect(rest).toEqual({
      kind: 'healthy',
      states: ['ended', 'ended', 'ended', 'ended'],
      findings: [],
      silent: [],
      sampled: [],
      muted: [],
      endsNotKnown: 0,
      endsToSelf: 0,
      partial: [],
      damaged: [],
      lostEntries: 0,
      unknownComms: { works: 0, files: [] },
      notRecorded: [],
      seen: { communicators: 1, collectives: 3, works: 12 },
      lateness: true,
      unresolved: null,
      compared: 2,
      knownBugs: [],
    });
  });
});
