/** 64-bit ids as text, always 16 digits, so that a communicator has the same name everywhere. */
export const hex64 = (id: bigint): string => `0x${id.toString(16).padStart(16, '0')}`;
