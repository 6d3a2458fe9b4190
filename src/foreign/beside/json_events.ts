/**
 * Reads the JSON of a trace event by event, in bounded memory: `{"traceEvents": [...], ...}`, plain or packed by gzip. Numbers that a double
 * would round keep their digits (`digitsOf`). A file that is cut off or damaged is refused as a whole.
 */

import { createReadStream, openSync, readSync, closeSync } from 'node:fs';
import { pipeline, Transform, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { TokenParser, Tokenizer, TokenType } from '@streamparser/json';
import { Interrupted } from '../../base/errors.js';
import { reason } from '../../base/reason.js';
import { knownAt } from '../known_files.js';
import { Refusal } from './refusal.js';

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

export interface JsonListener {
  /** Each member of `traceEvents`. */
  readonly event: (event: Json) => void;
  /** One of KEPT. They may come after the events. */
  readonly member: (name: string, value: Json) => void;
}

/** Members beside `traceEvents` that are read. */
const KEPT = ['baseTimeNanoseconds', 'distributedInfo', 'host_name'];
/** Bytes of one event, and how deep its values are nested. Real ones have some kilobytes and four levels. */
const MOST_BYTES = 64 * 1024 * 1024;
const DEEPEST = 1000;
const CHUNK = 1 << 18;

/** A double holds any number of so many characters. */
const EXACT = 15;
/** Begins a text that stands for a number. */
const DIGITS = '\0';

class ExactTokenizer extends Tokenizer {
  override parseNumber(text: string): number {
    return (text.length <= EXACT ? Number(text) : DIGITS + text) as number;
  }
}

/** The digits of a number that is kept as text; null: it is something else. */
export const digitsOf = (value: Json | undefined): string | null =>
  typeof value === 'string' && value.startsWith(DIGITS) ? value.slice(1) : null;

/** Throws Refusal, Interrupted. */
export async function readEvents(
  path: string,
  listener: JsonListener,
  interrupt: AbortSignal | undefined,
): Promise<void> {
  const scanner = new Scanner(path, listener);
  try {
    for await (const chunk of unpacked(path)) {
      if (interrupt?.aborted) throw new Interrupted('interrupted', String(interrupt.reason));
      scanner.write(chunk as Buffer);
    }
    scanner.end();
  } catch (error) {
    if (error instanceof Refusal || error instanceof Interrupted) throw error;
    const what = `the file is damaged or cut off (${reason(error)})`;
    throw new Refusal('broken', { path, what, offset: scanner.read, advice: 'copy it again' });
  }
}

function unpacked(path: string): Readable {
  const stream = createReadStream(path, { highWaterMark: CHUNK });
  if (!isPacked(path)) return stream;
  const unpack = createGunzip({ chunkSize: CHUNK });
  const out = new Transform({
    transform: (chunk, _, done) => {
      done(null, chunk);
    },
  });
  // Errors of all three reach the reader.
  pipeline(stream, unpack, out, () => undefined);
  return out;
}

function isPacked(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const magic = Buffer.alloc(2);
    return readSync(file, magic, 0, 2, 0) === 2 && magic[0] === 0x1f && magic[1] === 0x8b;
  } finally {
    closeSync(file);
  }
}

class Scanner {
  /** Bytes, unpacked. */
  read = 0;
  private newest = 0;
  private depth = 0;
  private hasEvents = false;
  private readonly isWhole: () => boolean;
  private readonly tokens = new ExactTokenizer({ stringBufferSize: 64 * 1024 });

  constructor(
    private readonly path: string,
    { event, member }: JsonListener,
  ) {
    const paths = ['$.traceEvents.*', ...KEPT.map((name) => `$.${name}`)];
    const values = new TokenParser({ paths, keepStack: false });
    this.isWhole = () => values.isEnded;
    this.tokens.onToken = (token) => {
      if (token.token === TokenType.LEFT_BRACE || token.token === TokenType.LEFT_BRACKET) this.enter();
      else if (token.token === TokenType.RIGHT_BRACE || token.token === TokenType.RIGHT_BRACKET) this.depth--;
      values.write(token);
    };
    values.onEnd = () => {
      this.tokens.end();
    };
    values.onValue = ({ value, key, stack }) => {
      this.newest = this.read;
      if (stack.length === 2) {
        this.hasEvents = true;
        event(value as Json);
      } else member(String(key), value as Json);
    };
  }

  write(chunk: Buffer): void {
    if (this.read === 0 && !/^\uFEFF?\s*\{/.test(chunk.toString('utf8', 0, 4096))) throw this.notATrace();
    this.tokens.write(chunk);
    this.read += chunk.length;
    if (this.read - this.newest > MOST_BYTES) throw this.tooLarge(`one of more than ${MOST_BYTES} bytes`);
  }

  end(): void {
    if (this.read === 0) throw this.notATrace();
    if (!this.isWhole()) throw new Error('it ends in the middle of a value');
    if (!this.hasEvents) throw this.notATrace();
  }

  private enter(): void {
    if (++this.depth > DEEPEST) throw this.tooLarge(`one that is nested ${DEEPEST} deep`);
  }

  private tooLarge(found: string): Refusal {
    const what = 'the file has a value that no event has';
    return new Refusal('broken', {
      path: this.path,
      what,
      offset: this.read,
      found,
      advice: 'export it again',
    });
  }

  private notATrace(): Refusal {
    return new Refusal('not-a-trace', {
      path: this.path,
      what: "not a trace of PyTorch's profiler",
      expected: 'a JSON object with "traceEvents"',
      found: knownAt(this.path)?.what,
      advice:
        'name the .json or .json.gz that export_chrome_trace or tensorboard_trace_handler wrote, or what nsys export --type sqlite made',
    });
  }
}
