import { describe, expect, it } from 'vitest';
import { BugError } from '../../../src/base/assert.js';
import type { BlockWriter } from '../../../src/trace/perfetto/block_writer.js';
import type { SliceRef, TrackRef } from '../../../src/trace/tracks/sink.js';
import { viewTrace } from '../../support/traces/trace_view.js';
import { block, ns, trace } from './blocks.js';

const lane = (sink: BlockWriter, name = 'lane', order?: 'late'): TrackRef =>
  sink.describe({ kind: 'slices', name, rank: 0, ...(order && { order }) });
const bytesOf = (sink: BlockWriter): TrackRef =>
  sink.describe({ kind: 'counter', name: 'tx', rank: 0, unit: 'bytes' });
const states = (sink: BlockWriter): TrackRef => sink.describe({ kind: 'state', name: 'ctrl', rank: 0 });

const refused: Record<string, [RegExp, (sink: BlockWriter) => void]> = {
  'a track that was never described': [/never described/, (sink) => sink.begin(7 as TrackRef, ns(0), 'a')],
  'a parent that was never described': [
    /never described/,
    (sink) => sink.describe({ kind: 'group', name: 'g', rank: 0, parent: 3 as TrackRef }),
  ],
  'an end without a begin': [
    /innermost open one is none/,
    (sink) => {
      sink.end(lane(sink), ns(0), 0 as SliceRef);
    },
  ],
  'an end of a slice that is not the innermost': [
    /ends slice 0, the innermost open one is 1/,
    (sink) => {
      const track = lane(sink);
      const outer = sink.begin(track, ns(0), 'outer');
      sink.begin(track, ns(3), 'inner');
      sink.end(track, ns(5), outer);
    },
  ],
  'an end on another track than the begin': [
    /innermost/,
    (sink) => {
      const [a, b] = [lane(sink, 'a'), lane(sink, 'b')];
      const slice = sink.begin(a, ns(0), 'on a');
      sink.begin(b, ns(0), 'on b');
      sink.end(b, ns(1), slice);
    },
  ],
  'the same end twice': [
    /none/,
    (sink) => {
      const track = lane(sink);
      const slice = sink.begin(track, ns(0), 'a');
      sink.end(track, ns(1), slice);
      sink.end(track, ns(2), slice);
    },
  ],
  'a time before the last one of its track': [
    /track "k".*earlier than the track's/,
    (sink) => {
      const track = lane(sink, 'k', 'late');
      sink.instant(track, ns(10), 'a');
      sink.instant(track, ns(9), 'b');
    },
  ],
  'a negative time': [
    /not a time/,
    (sink) => {
      sink.instant(lane(sink), ns(-1), 'a');
    },
  ],
  'a fraction of a nanosecond': [
    /not a time/,
    (sink) => {
      sink.instant(lane(sink), ns(0.5), 'a');
    },
  ],
  'no time at all': [
    /not a time/,
    (sink) => {
      sink.instant(lane(sink), ns(NaN), 'a');
    },
  ],
  'a time beyond 2^53': [
    /not a time/,
    (sink) => {
      sink.instant(lane(sink), ns(2 ** 53), 'a');
    },
  ],
  'a slice on a counter': [
    /slices track on a counter track/,
    (sink) => sink.begin(bytesOf(sink), ns(0), 'a'),
  ],
  'a slice on a group': [
    /on a group track/,
    (sink) => sink.begin(sink.describe({ kind: 'group', name: 'g', rank: 0 }), ns(0), 'a'),
  ],
  'a sample on slices': [
    /counter track on a slices track/,
    (sink) => {
      sink.counter(lane(sink), ns(0), 1);
    },
  ],
  'a state on slices': [
    /state track on a slices track/,
    (sink) => {
      sink.state(lane(sink), ns(0), 'a');
    },
  ],
  'half a byte': [
    /cannot count 0.5/,
    (sink) => {
      sink.counter(bytesOf(sink), ns(0), 0.5);
    },
  ],
  'more bytes than a number holds': [
    /cannot count/,
    (sink) => {
      sink.counter(bytesOf(sink), ns(0), 2 ** 53);
    },
  ],
  'an infinite rate': [
    /cannot count Infinity/,
    (sink) => {
      sink.counter(sink.describe({ kind: 'counter', name: 'r', rank: 0, unit: 'GB/s' }), ns(0), Infinity);
    },
  ],
  'a state without a name': [
    /without a name/,
    (sink) => {
      sink.state(states(sink), ns(0), '');
    },
  ],
  'a correlation of 0': [
    /correlation 0/,
    (sink) => {
      sink.instant(lane(sink), ns(0), 'a', { correlation: 0 });
    },
  ],
  'an argument that is not a number': [
    /loses digits: NaN/,
    (sink) => {
      sink.instant(lane(sink), ns(0), 'a', { args: [['x', NaN]] });
    },
  ],
  'an argument beyond 2^53': [
    /loses digits/,
    (sink) => {
      sink.instant(lane(sink), ns(0), 'a', { args: [['x', 2 ** 60]] });
    },
  ],
  'an argument of 65 bits': [
    /64 bits/,
    (sink) => {
      sink.instant(lane(sink), ns(0), 'a', { args: [['x', 1n << 64n]] });
    },
  ],
  'a track without a name': [/without a name/, (sink) => lane(sink, '')],
  'a rank that is no int32': [
    /not an int32/,
    (sink) => sink.describe({ kind: 'group', name: 'g', rank: 2 ** 31 }),
  ],
  'an event after close()': [
    /after close/,
    (sink) => {
      const track = lane(sink);
      sink.close();
      sink.instant(track, ns(0), 'a');
    },
  ],
  'a track after close()': [
    /after close/,
    (sink) => {
      sink.close();
      lane(sink);
    },
  ],
  '513 slices deep': [
    /512/,
    (sink) => {
      const track = lane(sink);
      for (let i = 0; i <= 512; i++) sink.begin(track, ns(i), 'deeper');
    },
  ],
};

describe('refused as a bug', () => {
  it.each(Object.entries(refused))('%s', (_what, [message, write]) => {
    expect(() => block(write)).toThrow(message);
    expect(() => block(write)).toThrow(BugError);
  });

  it.each([0, -1, 2 ** 31, 1.5])('pid %d', (pid) => {
    expect(() => block(() => undefined, { process: { pid, name: 'p', orderRank: 0 } })).toThrow(/pid/);
  });

  it('a block whose index is not below the count', () => {
    expect(() => block(() => undefined, { blockIndex: 2, blockCount: 2 })).toThrow('no block 2 of 2');
  });
});

describe('allowed, and read as meant', () => {
  it('512 slices deep, with an instant after each full pile', () => {
    const written = block((sink) => {
      const track = lane(sink);
      const slices = Array.from({ length: 511 }, () => sink.begin(track, ns(1), 'deeper'));
      for (let at = 2; at < 5; at++) sink.instant(track, ns(at), 'top');
      for (const slice of slices.reverse()) sink.end(track, ns(9), slice);
    });
    const view = viewTrace(trace(written));
    expect(view.problems).toEqual([]);
    expect(Math.max(...view.slices.map(({ depth }) => depth))).toBe(511);
    expect(view.slices.filter(({ dur }) => dur === 8n).length).toBe(511);
  });

  it('any number of instants at one time: the first 512, because the importer piles them up and drops the rest', () => {
    const written = block((sink) => {
      const track = lane(sink);
      for (let i = 0; i < 600; i++) sink.instant(track, ns(1), 'again');
      sink.instant(track, ns(2), 'later');
    });
    const view = viewTrace(trace(written));
    expect(view.problems).toEqual([]);
    expect(view.slices.filter(({ name }) => name === 'again').length).toBe(512);
    expect(view.slices.filter(({ name }) => name === 'later').length).toBe(1);
  });

  it('events that come late on one track go to other sequences', () => {
    const written = block((sink) => {
      const [inTime, a, b] = [lane(sink, 'in time'), lane(sink, 'a', 'late'), lane(sink, 'b', 'late')];
      sink.instant(inTime, ns(100), 'now');
      sink.instant(a, ns(50), 'earlier');
      sink.instant(b, ns(20), 'earlier still');
      sink.instant(inTime, ns(101), 'now');
    });
    const view = viewTrace(trace(written));
    expect(view.problems).toEqual([]);
    expect(view.slices.map(({ ts }) => Number(ts - view.start))).toEqual([20, 50, 100, 101]);
  });

  it('so do late events on any other track', () => {
    const written = block((sink) => {
      const [a, b] = [lane(sink, 'a'), lane(sink, 'b')];
      const wait = sink.begin(a, ns(10), 'wait');
      sink.instant(b, ns(100), 'now');
      sink.end(a, ns(50), wait);
      const send = sink.begin(a, ns(50), 'send');
      sink.end(a, ns(110), send);
    });
    const view = viewTrace(trace(written));
    expect(view.problems).toEqual([]);
    const spans = view.slices.map(({ name, ts, dur }) => [name, Number(ts - view.start), Number(dur)]);
    expect(spans).toEqual([
      ['wait', 10, 40],
      ['send', 50, 60],
      ['now', 100, 0],
    ]);
  });

  it('end and begin at one time', () => {
    const written = block((sink) => {
      const track = lane(sink);
      const a = sink.begin(track, ns(0), 'a');
      sink.end(track, ns(5), a);
      const b = sink.begin(track, ns(5), 'b');
      sink.end(track, ns(7), b);
    });
    expect(viewTrace(trace(written)).slices).toMatchObject([
      { name: 'a', dur: 5n, depth: 0 },
      { name: 'b', dur: 2n, depth: 0 },
    ]);
  });
});
