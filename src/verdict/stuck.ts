/** Work that stands still: it hangs, or waits and may still go on, or its end may be lost. */

import { describeHang } from './hang.js';
import type { Found, Rule } from './finding.js';
import { causeAmong, hungAfter, isHang, mayGoOn } from './is_hang.js';
import { waitingFor } from './root_stall.js';
import type { Scene } from './scene.js';
import type { Stall } from './stall.js';
import { unclear } from './unclear.js';
import type { Hang, VerdictKind } from './types.js';

type About = (stall: Stall, because: Pick<Found, 'because'>) => Found;

/** The cause, and the other stalls: those that wait for it are explained by it. */
export function causeFirst(
  cause: Stall,
  stalls: readonly Stall[],
  { ranks }: Pick<Scene, 'ranks'>,
  found: About,
  isShown: (stall: Stall) => boolean = () => true,
): Found[] {
  const root = found(cause, {});
  const behind = waitingFor(cause, stalls, ranks);
  const others = stalls.filter((stall) => stall !== cause && isShown(stall));
  return [root, ...others.map((stall) => found(stall, behind.has(stall) ? { because: root } : {}))];
}

/** Each stall, the one for which the others wait first. */
export const stuck: Rule = (scene) => {
  const { stalls, ranks } = scene;
  const cause = causeAmong(stalls, scene);
  if (!cause) return [];
  const behindCause = waitingFor(cause, stalls, ranks);
  // If a stall waits for ranks that have just begun other work, it is no hang at any age.
  const isHung = (stall: Stall): boolean =>
    isHang(stall, scene) &&
    (stall === cause || isHang(cause, scene) || !(behindCause.has(stall) && mayGoOn(stall, scene)));
  const hung = stalls.filter(isHung);
  const first = hung.includes(cause) ? cause : (causeAmong(hung, scene) ?? cause);
  const found: About = (stall, because) => {
    const hang = describeHang(stall, stalls, scene);
    return {
      rule: 'stuck',
      verdict: hung.includes(stall) ? { kind: 'hung', hang } : waiting(stall, hang, scene),
      stands: true,
      isSure: hung.includes(stall),
      ...because,
      ...surerOf(stall, hang, scene),
    };
  };
  // If all its processes have ended, nothing can come any more, and the work broke off.
  const mayCome = ({ files }: Stall): boolean =>
    files.some((file) => !ranks[file]!.life.isClosed && !ranks[file]!.life.isGone);
  const isShown = (stall: Stall): boolean => hung.includes(stall) || mayCome(stall);
  return isShown(first) ? causeFirst(first, stalls, scene, found, isShown) : [];
};

function waiting(stall: Stall, hang: Hang, scene: Scene): VerdictKind {
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

function surerOf({ works, files }: Stall, { front, kernels }: Hang, { ranks }: Scene): Pick<Found, 'surer'> {
  const isInNode = front?.node && kernels.length === 0;
  const isSeen = works.some(({ work }) => work.ops.length > 0 || work.blocks);
  if (works.length === 0 || (isSeen && !isInNode)) return {};
  const events = ['ProxyOp', 'KernelCh'].filter((event) =>
    files.some((file) => ranks[file]!.lacks.notRecorded.includes(event)),
  );
  return events.length === 0 ? {} : { surer: `record ${events.join(' and ')} (NCCL_TRACE_EVENTS)` };
}

export const perhapsOver: Rule = (scene) => {
  if (scene.doubtful.length === 0) return [];
  const unknown = unclear(scene, scene.doubtful);
  return unknown
    ? [{ rule: 'perhaps over', verdict: { kind: 'unclear', unclear: unknown }, stands: true, isSure: false }]
    : [];
};
