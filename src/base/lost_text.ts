/** Stands for a name that cannot be read. It could be any name, so it counts as equal to each. */
export const lostText = (id: number): string => `string ${id} lost`;
/** Compares the first letter first, because this runs for every call. */
export const isLostText = (text: string): boolean =>
  text.startsWith('string ') && /^string \d+ lost$/.test(text);
