/** Stands for a name that cannot be read. It may be any name, so it differs from none. */
export const lostText = (id: number): string => `string ${id} lost`;
export const isLostText = (text: string): boolean => /^string \d+ lost$/.test(text);
