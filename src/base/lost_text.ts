/** Stands for a name that cannot be read. It could be any name, so it counts as equal to each. */
export const lostText = (id: number): string => `string ${id} lost`;
/** The first letter is compared alone, because this is asked for every call. */
export const isLostText = (text: string): boolean =>
  text.startsWith('string ') && /^string \d+ lost$/.test(text);
