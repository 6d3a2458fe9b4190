/**
 * What a collector said of a push. The exporter tells too little: it takes any answer with status 200 for "all taken", also a partial
 * success and the login page of a proxy; of a 400 it keeps the body apart, of a 429 nothing. Node tells of every answer (its channel
 * http.client.response.finish), so the exporter stays as it is.
 */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import protobuf from 'protobufjs/minimal.js';
import { printable } from '../report/text.js';

export interface Answer {
  readonly status: number;
  /** The content's type; may be empty. */
  readonly type: string;
  /** Where it sends us; may be empty. */
  readonly location: string;
  /** Its begin. */
  readonly body: Buffer;
}

export interface Refusal {
  /** Points that were not taken; null: all of the push. */
  readonly points: number | null;
  readonly why: string;
}

/** Bytes of a body that are kept. */
const KEPT = 16 << 10;
const BEGUN = 'http.client.request.start';
const ANSWERED = 'http.client.response.finish';

/** The answer to the last request to one host. */
export class Answers {
  private answer: Omit<Answer, 'body'> | null = null;
  private body: Buffer[] = [];

  constructor(private readonly host: string) {
    subscribe(BEGUN, this.begun);
    subscribe(ANSWERED, this.answered);
  }

  /** null: there was none. */
  get last(): Answer | null {
    return this.answer && { ...this.answer, body: Buffer.concat(this.body).subarray(0, KEPT) };
  }

  close(): void {
    unsubscribe(BEGUN, this.begun);
    unsubscribe(ANSWERED, this.answered);
  }

  private readonly begun = (message: unknown): void => {
    if (this.isOurs(message as Exchange)) this.answer = null;
  };

  private readonly answered = (message: unknown): void => {
    if (!this.isOurs(message as Exchange)) return;
    const { response } = message as Exchange;
    const { statusCode: status = 0, headers } = response;
    this.answer = { status, type: headers['content-type'] ?? '', location: headers.location ?? '' };
    this.body = [];
    let kept = 0;
    response.on('data', (part: Buffer) => {
      if (kept < KEPT) this.body.push(part);
      kept += part.length;
    });
  };

  private isOurs({ request }: Exchange): boolean {
    return request.getHeader('host') === this.host;
  }
}

interface Exchange {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
}

/** null: it took all. */
export function refusalIn(answer: Answer): Refusal | null {
  const { status, type, location, body } = answer;
  if (status < 200 || status > 299) {
    const to = location === '' ? '' : `, it is at ${location}`;
    return { points: null, why: printable(`status ${status}${to}${said(messageIn(answer))}`) };
  }
  if (body.length === 0) return null;
  const partial = partialSuccess(answer);
  if (partial === null)
    return {
      points: null,
      why: printable(`this is no collector: status ${status}, ${type || 'no type'}${said(String(body))}`),
    };
  const { rejected, message } = partial;
  return rejected === 0 && message === ''
    ? null
    : { points: rejected, why: printable(message || 'no reason given') };
}

/** On one line, and not a whole page. */
const said = (text: string): string => {
  const line = text
    .replaceAll(/<(script|style)[^]*?<\/\1>|<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line === '' ? '' : `: ${line.length > 160 ? `${line.slice(0, 160)}...` : line}`;
};

const isProtobuf = ({ type }: Answer): boolean => /^application\/(x-)?protobuf\b/.test(type);

interface Partial {
  readonly rejected: number;
  readonly message: string;
}

/** ExportMetricsServiceResponse, in either encoding; null: it is something else. */
function partialSuccess(answer: Answer): Partial | null {
  try {
    if (isProtobuf(answer)) {
      const part = fieldsOf(answer.body).get(1);
      const fields = part instanceof Uint8Array ? fieldsOf(part) : new Map<number, Field>();
      return { rejected: Number(fields.get(1) ?? 0), message: textOf(fields.get(2)) };
    }
    if (!/json\b/.test(answer.type)) return null;
    const json = JSON.parse(String(answer.body)) as {
      partialSuccess?: { rejectedDataPoints?: string | number; errorMessage?: string } | null;
    };
    const { rejectedDataPoints = 0, errorMessage = '' } = json.partialSuccess ?? {};
    return { rejected: Number(rejectedDataPoints), message: errorMessage };
  } catch {
    return null;
  }
}

/** google.rpc.Status, or whatever a proxy writes. */
function messageIn(answer: Answer): string {
  try {
    return isProtobuf(answer) ? textOf(fieldsOf(answer.body).get(2)) : String(answer.body);
  } catch {
    return String(answer.body);
  }
}

type Field = number | Uint8Array;
const textOf = (field: Field | undefined): string =>
  field instanceof Uint8Array ? Buffer.from(field).toString() : '';

/** Numbers (their low 32 bits) and bytes by field. Throws if they are no message. */
function fieldsOf(bytes: Uint8Array): Map<number, Field> {
  const reader = protobuf.Reader.create(bytes);
  const found = new Map<number, Field>();
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if ((tag & 7) === 0) found.set(tag >>> 3, reader.uint32());
    else if ((tag & 7) === 2) found.set(tag >>> 3, reader.bytes());
    else reader.skipType(tag & 7);
  }
  return found;
}
