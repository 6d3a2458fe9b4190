/**
 * Known bugs of NCCL, each with its public source. The verdict names a bug only where its symptom is found and its versions fit
 * (known_bug.ts). CONTRIBUTING.md says how to add one.
 *
 *   symptom  what a hang shows, one of the names in known_bug.ts
 *   from     the first version that has it; null: not known, so older ones may have it, too
 *   before   the first version without it; null: none is known
 *   on       the processor; null: any
 *   ranks    the fewest ranks of the communicator; absent: any number
 *   func     the function that was called; absent: any
 *   fixed    what a person is told: the release, or how to avoid it
 *   source   where NVIDIA or the reporter says so
 *   what     what happens inside NCCL, in one sentence
 */

import type { KnownBug } from './types.js';

export const KNOWN_BUGS: readonly KnownBug[] = [
  {
    symptom: 'inside ncclGroupEnd',
    from: null,
    before: '2.29.3',
    on: 'aarch64',
    fixed: 'fixed in 2.29.3',
    source: 'https://github.com/NVIDIA/nccl/releases/tag/v2.29.3-1',
    what: 'A compare-exchange that fails by chance loses freed slots of proxy operations, until the launching thread waits for one for ever.',
  },
  {
    symptom: 'inside ncclGroupEnd',
    from: '2.28',
    before: '2.28.9',
    on: null,
    fixed: 'fixed in 2.28.9',
    source: 'https://github.com/NVIDIA/nccl/commit/dbc86fd',
    what: 'The main thread and the proxy thread see operations in different orders, at large scale.',
  },
  {
    symptom: 'receive not posted',
    from: '2.31',
    before: '2.32.6',
    on: null,
    fixed: 'fixed in 2.32 update 1',
    source: 'https://github.com/NVIDIA/nccl/issues/2389',
    what: 'The receiving proxy erases the flag of a registered buffer, so it never posts the receive.',
  },
  {
    symptom: 'lost on the wire',
    from: '2.26',
    before: '2.28',
    on: null,
    fixed: 'fixed in 2.28.3',
    source: 'https://github.com/NVIDIA/nccl/issues/1822',
    what: 'The proxy drops errors of the network, so that the job waits in place of failing.',
  },
  {
    symptom: 'lost on the wire',
    from: null,
    before: '2.26.2',
    on: null,
    fixed: 'fixed in 2.26.2',
    source: 'https://github.com/NVIDIA/nccl/releases/tag/v2.26.2-1',
    what: 'An error of the network plugin’s test() makes the job wait.',
  },
  {
    symptom: 'all-to-all',
    from: null,
    before: '2.26.5',
    on: 'aarch64',
    ranks: 81,
    fixed: 'fixed in 2.26.5',
    source: 'https://github.com/NVIDIA/nccl/releases/tag/v2.26.5-1',
    what: 'Patterns like AlltoAll hang on systems with multi-node NVLink.',
  },
  {
    symptom: 'all-to-all',
    from: '2.27',
    before: '2.28',
    on: null,
    ranks: 64,
    fixed: 'no fix known; NCCL_PXN_DISABLE=1 avoids it',
    source: 'https://github.com/NVIDIA/nccl/issues/1835',
    what: 'AlltoAll hangs with NCCL_NCHANNELS_PER_NET_PEER=4 at some numbers of ranks.',
  },
  {
    symptom: 'plans differ',
    from: null,
    before: '2.24.3',
    on: null,
    fixed: 'fixed in 2.24.3',
    source: 'https://github.com/NVIDIA/nccl/releases/tag/v2.24.3-1',
    what: 'Ranks with other processors or GPUs choose another algorithm or protocol for the same call.',
  },
  {
    symptom: 'plans differ',
    from: '2.24.3',
    before: '2.26.2',
    on: null,
    fixed: 'fixed in 2.26.2',
    source: 'https://github.com/NVIDIA/nccl/releases/tag/v2.26.2-1',
    what: 'Ranks of unlike systems are tuned differently, and choose another algorithm or protocol for the same call.',
  },
  {
    symptom: 'no other side',
    from: null,
    before: '2.24.3',
    on: null,
    fixed: 'fixed in 2.24.3',
    source: 'https://github.com/NVIDIA/nccl/issues/1495',
    what: 'With a non-blocking communicator ncclSend and ncclRecv return success and are not enqueued.',
  },
  {
    symptom: 'work not reported',
    from: '2.29.2',
    before: null,
    on: null,
    func: 'Broadcast',
    fixed: 'no fix known; NCCL_ALLGATHERV_ENABLE=0 avoids it',
    source: 'https://github.com/NVIDIA/nccl/releases/tag/v2.29.2-1',
    what: 'NCCL reports of a Broadcast only the call, so no tool sees who waits in it.',
  },
];
