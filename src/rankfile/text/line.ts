/**
 * One line of a text of rank files: words, `name=value`, and texts in quotes as in JSON. schemas/rank-text.md has the grammar. Whoever reads a
 * line takes its fields by name, and `end` complains about those that nobody took, so a misspelled name is never ignored.
 */

/** What is wrong with a line. The reader of the text adds its number. */
export class LineFault extends Error {}

const TOKEN = /(?:([A-Za-z][A-Za-z0-9]*)=)?("(?:[^"\\]|\\.)*"|[^\s"]+)(?=\s|$)/y;

export class Line {
  readonly words: readonly string[];
  private readonly fields = new Map<string, string>();

  constructor(text: string) {
    const words: string[] = [];
    let at = 0;
    while (at < text.length) {
      if (text[at] === ' ') {
        at++;
        continue;
      }
      TOKEN.lastIndex = at;
      const [token, name, value] = TOKEN.exec(text) ?? [];
      if (token === undefined) throw new LineFault(`${text.slice(at, at + 20)} is no word and no name=value`);
      if (name === undefined) words.push(value!);
      else if (this.fields.has(name)) throw new LineFault(`${name} is there twice`);
      else this.fields.set(name, value!);
      at += token.length;
    }
    this.words = words;
  }

  /** As it stands there, with its quotes; undefined: the line has no such field. */
  take(name: string): string | undefined {
    const value = this.fields.get(name);
    this.fields.delete(name);
    return value;
  }

  /** Without taking it. */
  peek(name: string): string | undefined {
    return this.fields.get(name);
  }

  takeNumber(name: string): number | undefined {
    const token = this.take(name);
    return token === undefined ? undefined : Number(bigintOf(token));
  }

  end(): void {
    const [left] = this.fields.keys();
    if (left !== undefined) throw new LineFault(`${left}= has no meaning here`);
  }
}

/** Characters of a text that needs no quotes. */
const PLAIN = /^[A-Za-z_][\w.+/-]*$/;

/** In quotes, all that a terminal might obey is escaped. */
export const quoted = (text: string): string =>
  PLAIN.test(text)
    ? text
    : JSON.stringify(text).replace(
        /[\u007f-\uffff]/g,
        (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );

export function textOf(token: string): string {
  if (!token.startsWith('"')) return token;
  try {
    return JSON.parse(token) as string;
  } catch {
    throw new LineFault(`${token} is no text in quotes`);
  }
}

export function bigintOf(token: string): bigint {
  if (/^-?(\d+|0x[0-9a-f]+)$/i.test(token))
    return token.startsWith('-') ? -BigInt(token.slice(1)) : BigInt(token);
  throw new LineFault(`${token} is no whole number`);
}
