/** Escapes text for HTML. Every text that does not come from us goes through here, so a name stays text, whatever it contains. */

/** For text between tags and within quoted attributes. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** JSON within a script element: nothing in it can end the element, or begin a comment. */
export const jsonInScript = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
