/**
 * How many children each work has had, and how many have not ended. Work is done when all have ended (work_end.ts). So only plausible
 * children count (parents.ts), and a child that NCCL starts twice counts once.
 */

import { claimEnded, kernelClaim, opClaim } from './parents.js';
import type { Kernel, Op, Work } from './types.js';

export function countOpStart({ work, parent }: Op): void {
  if (work && parent === 'known') begin(work);
}

export function countOpStop({ work, channel, isSend, peer }: Op): void {
  if (work && claimEnded(work, opClaim(channel, isSend, peer))) work.openChildren--;
}

export function countKernelStart(kernel: Kernel): void {
  if (countsFor(kernel) && kernel.parent === 'known') begin(kernel.work);
}

export function countKernelStop(kernel: Kernel): void {
  if (!countsFor(kernel)) return;
  if (kernel.phase !== null || claimEnded(kernel.work, kernelClaim(kernel.channel)))
    kernel.work.openChildren--;
}

/** A phase of a block ends within it: the block itself counts. */
function countsFor(kernel: Kernel): kernel is Kernel & { work: Work } {
  return kernel.work !== null && !kernel.isWithinBlock;
}

function begin(work: Work): void {
  work.children++;
  work.openChildren++;
}
