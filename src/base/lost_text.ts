/** In place of a name that cannot be read: it may be any, and is unlike no other. */
export const lostText = (id: number): string => `string ${id} lost`;
export const isLostText = (text: string): boolean => /^string \d+ lost$/.test(text);
