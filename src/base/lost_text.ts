/** Stands for a name that cannot be read. It may be any name, so it differs from none. */
export const lostText = (id: number): string => `string ${id} lost`;
/** Asked of every call: nearly all texts differ in the first letters. */
export const isLostText = (text: string): boolean =>
  text.startsWith('string ') && /^string \d+ lost$/.test(text);
