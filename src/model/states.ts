/**
 * How NCCL's states change an op, a proxy thread or a call (for steps: step_pairing.ts). A state that does not belong to the event changes
 * nothing and is counted.
 */

import type { Ticks } from '../base/time.js';
import { State } from '../rankfile/format/nccl.js';
import type { StateFields } from './record_fields.js';
import type { OddRecords } from './odd_records.js';
import { type Ctrl, type CtrlState, type HostSpan, type Op, type WorkListener } from './types.js';

const CTRL_STATE = new Map<number, CtrlState>([
  [State.CtrlIdle, 'Idle'],
  [State.CtrlActive, 'Active'],
  [State.CtrlSleep, 'Sleep'],
  [State.CtrlWakeup, 'Wakeup'],
  [State.CtrlAppend, 'Append'],
  [State.CtrlAppendEnd, 'AppendEnd'],
]);

/** Where a state's effect is reported: the pairing's listener, and the count of states without effect. */
export interface Sinks {
  readonly listener: Partial<WorkListener>;
  readonly odd: OddRecords;
}

export function applyOpState(op: Op, { state, value }: StateFields, at: Ticks, sinks: Sinks): void {
  const isProgress = state >= State.OpSendPosted && state <= State.OpRecvDone;
  if (state !== State.OpInProgress && !isProgress) {
    sinks.odd.unknownState('ProxyOp', state, at);
    return;
  }
  if (state === State.OpSendRemFifoWait) sendTried(op, at);
  else if (state === State.OpSendTransmitted) op.roomWanted = null;
  if (isProgress && value !== null) opProgress(op, value, at, sinks.listener);
}

/**
 * In a send step the GPU may have filled the data while the receiver has no room. Up to NCCL 2.26 no state of the step reports this. This
 * state of its operation does.
 */
function sendTried(op: Op, at: Ticks): void {
  op.roomWanted ??= at;
  if (op.gpuBegan === null || at < op.gpuBegan) op.gpuBegan = at;
}

/** Up to NCCL 2.26 steps have no sizes. Their operation reports the bytes so far (states 0 to 7). */
function opProgress(op: Op, bytesSoFar: number, at: Ticks, listener: Partial<WorkListener>): void {
  const more = bytesSoFar - op.bytes;
  if (more <= 0) return;
  op.bytes = bytesSoFar;
  listener.opBytes?.(op, more, at);
}

/** An unknown state is shown with its number, because the thread was in that state. */
export function applyCtrlState(ctrl: Ctrl, { state, value }: StateFields, at: Ticks, sinks: Sinks): void {
  const name = CTRL_STATE.get(state);
  if (name === undefined) sinks.odd.unknownState('ProxyCtrl', state, at);
  sinks.listener.ctrl?.(ctrl.ring, name ?? `state ${state}`, at, name === 'AppendEnd' ? value : null);
}

/**
 * By kind of host span: the first and last of the states that add nothing to its spans. 23 follows the start at once, and 24 begins the
 * GroupEnd. 25 to 30 begin and end events that have a start and a stop of their own.
 */
const HOST_STATES: Readonly<Partial<Record<HostSpan['kind'], readonly [number, number]>>> = {
  GroupApi: [State.GroupStartApiStop, State.GroupEndApiStart],
  CeColl: [State.CeCollStart, State.CeBatchComplete],
  CeSync: [State.CeCollStart, State.CeBatchComplete],
  CeBatch: [State.CeCollStart, State.CeBatchComplete],
  NetPlugin: [State.NetPluginUpdate, State.NetPluginUpdate],
};

export function isHostState(kind: HostSpan['kind'], state: number): boolean {
  const [first, last] = HOST_STATES[kind] ?? [0, -1];
  return state >= first && state <= last;
}
