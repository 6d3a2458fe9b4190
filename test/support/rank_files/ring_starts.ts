/** Options of RingBuilder's methods for starts. Each has a default there. */

export interface StartOptions {
  readonly parent?: bigint;
  /** Communicator number; default 0. */
  readonly comm?: number;
  readonly rank?: number;
}

interface Named {
  readonly func?: string;
  readonly datatype?: string;
}

export interface StartColl extends StartOptions, Named {
  readonly seqNumber?: number;
  readonly count?: number;
  readonly algo?: string;
  readonly proto?: string;
  readonly parentGroup?: bigint;
  readonly root?: number;
  readonly ordinal?: number;
  readonly nChannels?: number;
  readonly flags?: number;
  readonly userTag?: bigint;
}

export interface StartP2p extends StartOptions, Named {
  readonly peer?: number;
  readonly ordinal?: number;
  readonly count?: number;
  readonly nChannels?: number;
  readonly parentGroup?: bigint;
}

export interface StartProxyOp extends StartOptions {
  readonly peer?: number;
  readonly ordinal?: number;
  readonly nSteps?: number;
  readonly pid?: number;
  readonly channel?: number;
  readonly isSend?: boolean;
  /** The context that NCCL passed for an operation of another process. `comm` becomes foreign. */
  readonly foreignContext?: bigint;
}

export interface StartApi extends StartOptions, Named {
  readonly count?: number;
  readonly root?: number;
  readonly graphCaptured?: boolean;
  readonly userTag?: bigint;
}

export interface StartNetPlugin extends StartOptions {
  readonly id?: bigint;
  readonly length?: bigint;
  /** 0: NCCL passed no data. */
  readonly type?: number;
  readonly op?: number;
}

export interface StartCeColl extends StartOptions, Named {
  readonly seqNumber?: number;
}
