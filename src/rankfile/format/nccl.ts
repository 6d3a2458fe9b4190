/**
 * NCCL's own numbers in records: event types (bits of the masks; bit n starts with record kind 0x10 + n) and event states. Names are
 * NCCL's, shortened. schemas/rank-file.md lists them with the releases that send them.
 */

export const EventType = {
  Group: 0x1,
  Coll: 0x2,
  P2p: 0x4,
  ProxyOp: 0x8,
  ProxyStep: 0x10,
  ProxyCtrl: 0x20,
  KernelCh: 0x40,
  NetPlugin: 0x80,
  GroupApi: 0x100,
  CollApi: 0x200,
  P2pApi: 0x400,
  KernelLaunch: 0x800,
  CeColl: 0x1000,
  CeSync: 0x2000,
  CeBatch: 0x4000,
  KernelPhase: 0x8000,
} as const;
export type EventTypeName = keyof typeof EventType;

export const State = {
  // ProxyOp up to NCCL 2.26; deprecated and no longer sent by later releases
  OpSendPosted: 0,
  OpSendRemFifoWait: 1,
  OpSendTransmitted: 2,
  OpSendDone: 3,
  OpRecvPosted: 4,
  OpRecvReceived: 5,
  OpRecvTransmitted: 6,
  OpRecvDone: 7,
  // ProxyStep
  SendGpuWait: 8,
  SendWait: 9,
  RecvWait: 10,
  RecvFlushWait: 11,
  RecvGpuWait: 12,
  // ProxyCtrl
  CtrlIdle: 13,
  CtrlActive: 14,
  CtrlSleep: 15,
  CtrlWakeup: 16,
  CtrlAppend: 17,
  CtrlAppendEnd: 18,
  // from v4 on
  OpInProgress: 19,
  SendPeerWait: 20,
  NetPluginUpdate: 21,
  KernelChStop: 22,
  // from v5 on: GroupApi
  GroupStartApiStop: 23,
  GroupEndApiStart: 24,
  // from v6 on
  CeCollStart: 25,
  CeCollComplete: 26,
  CeSyncStart: 27,
  CeSyncComplete: 28,
  CeBatchStart: 29,
  CeBatchComplete: 30,
  // from v7 on
  KernelPhaseStop: 31,
} as const;
export type StateName = keyof typeof State;

const stateNames = new Map<number, StateName>(
  Object.entries(State).map(([name, state]) => [state, name as StateName]),
);

export const stateName = (state: number): string => stateNames.get(state) ?? `state ${state}`;

/** Names of a mask's bits, in order; unnamed bits as numbers. */
export function eventTypeNames(mask: number): string[] {
  const names: string[] = [];
  let rest = mask;
  for (const [name, bit] of Object.entries(EventType)) {
    if (Math.floor(mask / bit) % 2 === 1) {
      names.push(name);
      rest -= bit;
    }
  }
  if (rest !== 0) names.push(`0x${rest.toString(16)}`);
  return names;
}
