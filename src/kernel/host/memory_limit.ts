/** `--max-memory`: what the records of one file may take, in this thread and those that start after it was set. */

import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const NAME = 'nccl-trace: bytes for the records of a file';

/** Bytes; undefined: as much as the size of the file allows (room.ts). */
export const limitMemory = (bytes: number | undefined): void => {
  setEnvironmentData(NAME, bytes);
};

export const memoryLimit = (): number | undefined => getEnvironmentData(NAME) as number | undefined;
