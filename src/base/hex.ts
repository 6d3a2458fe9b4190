/** 64-bit ids as text, always 16 digits: so that names of one communicator are equal wherever they are printed. */
export const hex64 = (id: bigint): string => `0x${id.toString(16).padStart(16, '0')}`;
