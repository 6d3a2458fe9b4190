/** The network's part of the pictures of training steps: our recorder's transfers, which are in no other tool's file. */

import { OutputError } from '../../base/errors.js';
import { jobRanks } from '../../runs/job_ranks.js';
import { said } from '../../runs/redact.js';
import { failure } from '../../study/scanned_run.js';
import type { Study } from '../../study/study.js';
import type { Workers } from '../../study/workers.js';
import type { NetworkJob, NetworkLane } from '../../trace/network_lanes.js';
import { transfersJob } from '../../trace/transfers_job.js';
import type { StepLane, StepPicture, StepSlice } from './step_picture.js';

const COLUMNS = 400;
const MOST_LANES = 8;

/** The files that the pictures are of are read once more. Throws OutputError. */
export async function withNetwork(
  pictures: readonly StepPicture[],
  study: Study,
  workers: Workers,
): Promise<StepPicture[]> {
  const ranks = jobRanks(study.run);
  const jobs = pictures.map(({ file, start, duration }): NetworkJob => ({
    ...transfersJob(study, file, ranks),
    ...{ from: start, to: start + duration, columns: COLUMNS, mostLanes: MOST_LANES },
  }));
  const outcomes = await workers.run(jobs.map((job) => ({ pass: 'network', job })));
  return pictures.map((picture, i) => {
    const outcome = outcomes[i]!;
    if (!outcome.ok)
      throw new OutputError(jobs[i]!.path, said(failure(outcome), study.aliases), 'nothing was written');
    return withLanes(picture, outcome.network!);
  });
}

function withLanes(
  picture: StepPicture,
  { lanes, others }: { readonly lanes: readonly NetworkLane[]; readonly others: number },
): StepPicture {
  const names = [...picture.names];
  const place = (name: string): number => {
    const known = names.indexOf(name);
    return known < 0 ? names.push(name) - 1 : known;
  };
  const column = picture.duration / COLUMNS;
  const inOrder = [...lanes].sort(
    (a, b) => Number(b.isSend) - Number(a.isSend) || (a.peer ?? Infinity) - (b.peer ?? Infinity),
  );
  const drawn = inOrder.map(({ isSend, peer, transfers: total, spans }): StepLane => ({
    kind: 'network',
    title: `${isSend ? 'to' : 'from'} rank ${peer ?? '?'}`,
    ...{ rows: 1, total },
    slices: spans.map(({ from, to, wait }): StepSlice => [
      Math.round(from * column),
      Math.round((to - from) * column),
      0,
      place(wait),
      1,
    ]),
  }));
  const leftOut =
    others === 0 ? picture.leftOut : { ...picture.leftOut, 'transfers of further ranks': others };
  return { ...picture, names, lanes: [...picture.lanes, ...drawn], leftOut };
}
