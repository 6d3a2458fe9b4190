/** Work that stands still: it hangs, or waits and may still go on, or its end may be lost. */

import { describeHang } from './hang.js';
import { found, type Found, type Rule } from './finding.js';
import { hungAfter, inCauseOrder, isHang, mayGoOn } from './is_hang.js';
import { waitingFor } from './root_stall.js';
import type { Scene } from './scene.js';
import type { Stall } from './stall.js';
import { doubt, unclear } from './unclear.js';
import type { Detail, Hang } from './types.js';

type Describe = (stall: Stall, because: Found | null) => Found;

/** `stalls`: causes first. Those that wait for a cause are explained by it. */
export function causesFirst(
  stalls: readonly Stall[],
  { ranks }: Pick<Scene, 'ranks'>,
  describe: Describe,
): readonly Found[] {
  const [cause, ...others] = stalls;
  if (!cause) return [];
  const root = describe(cause, null);
  const behind = waitingFor(cause, others, ranks);
  const rest = others.filter((stall) => !behind.has(stall));
  return [
    root,
    ...others.flatMap((stall) => (behind.has(stall) ? [describe(stall, root)] : [])),
    ...causesFirst(rest, { ranks }, describe),
  ];
}

/** Each stall, the one for which the others wait first. */
export const stuck: Rule = (scene) => {
  const { ranks } = scene;
  const stalls = inCauseOrder(scene.stalls, scene);
  const [cause] = stalls;
  if (!cause) return [];
  const behindCause = waitingFor(cause, stalls, ranks);
  // If a stall waits for ranks that have just begun other work, it is no hang at any age.
  const isHung = (stall: Stall): boolean =>
    isHang(stall, scene) &&
    (stall === cause || isHang(cause, scene) || !(behindCause.has(stall) && mayGoOn(stall, scene)));
  const hung = stalls.filter(isHung);
  const describe: Describe = (stall, because) => {
    const hang = describeHang(stall, stalls, scene);
    const isSure = hung.includes(stall);
    const about: Detail = isSure ? { kind: 'hung', hang } : waiting(stall, hang, scene);
    return found('stuck', about, { stands: true, isSure, because, surer: surerOf(stall, hang, scene) });
  };
  // If all its processes have ended, nothing can come any more, and the work broke off.
  const mayCome = ({ files }: Stall): boolean =>
    files.some((file) => !ranks[file]!.life.isClosed && !ranks[file]!.life.isGone);
  const first = hung[0] ?? cause;
  const isShown = (stall: Stall): boolean => hung.includes(stall) || mayCome(stall);
  const shown = stalls.filter((stall) => stall !== first && isShown(stall));
  return isShown(first) ? causesFirst([first, ...shown], scene, describe) : [];
};

function waiting(stall: Stall, hang: Hang, scene: Scene): Detail {
  const { ranks } = scene;
  return {
    kind: 'waiting',
    waiting: {
      stall: hang,
      hungAfter: hungAfter(stall, scene),
      isLive: stall.files.every((file) => ranks[file]!.life.isAlive),
      byKernel: stall.files.filter((file) => ranks[file]!.life.isLate),
    },
  };
}

function surerOf({ works, files }: Stall, { front, kernels }: Hang, { ranks }: Scene): string | null {
  const isInNode = front?.node && kernels.length === 0;
  const isSeen = works.some(({ work }) => work.ops.length > 0 || work.blocks);
  if (works.length === 0 || (isSeen && !isInNode)) return null;
  const events = ['ProxyOp', 'KernelCh'].filter((event) =>
    files.some((file) => ranks[file]!.lacks.notRecorded.includes(event)),
  );
  return events.length === 0 ? null : `record ${events.join(' and ')} (NCCL_TRACE_EVENTS)`;
}

export const perhapsOver: Rule = (scene) =>
  scene.doubtful.length === 0 ? [] : doubt('perhaps over', true, unclear(scene, scene.doubtful));
