/** What is written when only a window of the trace is drawn. */

import { describe, expect, it } from 'vitest';
import { traceNsFromClockMap } from '../../../src/base/time.js';
import type { BlockWriter, SelectedPart } from '../../../src/trace/perfetto/block_writer.js';
import { ALWAYS, type Windows } from '../../../src/trace/tracks/selection.js';
import type { TrackRef } from '../../../src/trace/tracks/sink.js';
import { textOf } from '../../support/traces/drawn_text.js';
import type { TextSink } from '../../support/traces/text_sink.js';
import { block, trace } from './blocks.js';

const at = traceNsFromClockMap;
const WINDOW = { from: at(100), to: at(200) };
const ALL_DETAILS: Windows = { coll: WINDOW, op: WINDOW, step: WINDOW };

/** What is drawn of the events that `draw` writes. `calls`: a track of calls. */
function clip(
  draw: (sink: BlockWriter, calls: TrackRef) => void,
  windows: Windows = ALL_DETAILS,
): { text: TextSink; part: SelectedPart } {
  let part: SelectedPart | undefined;
  const written = block(
    (sink) => {
      draw(sink, sink.describe({ kind: 'slices', name: 'calls', rank: 0, detail: 'coll' }));
      sink.finishPart();
      part = sink.part();
    },
    { windows, process: null },
  );
  return { text: textOf(trace(written)), part: part! };
}

describe('a slice', () => {
  it.each([
    ['before the window', 10, 90, []],
    ['up to its edge', 10, 100, []],
    ['into it', 10, 150, ['100 [calls] begin a beforeWindowNs=90', '150 [calls] end a']],
    ['across it', 10, 300, ['100 [calls] begin a beforeWindowNs=90', '200 [calls] end a afterWindowNs=100']],
    ['within', 100, 200, ['100 [calls] begin a', '200 [calls] end a']],
    ['out of it', 150, 300, ['150 [calls] begin a', '200 [calls] end a afterWindowNs=100']],
    ['after it', 201, 300, []],
    ['that never ends, from before', 10, null, ['100 [calls] begin a beforeWindowNs=90']],
    ['that never ends, within', 120, null, ['120 [calls] begin a']],
    ['that never ends, from after', 201, null, []],
  ] as const)('%s', (_, from, to, lines) => {
    const { text, part } = clip((sink, track) => {
      const slice = sink.begin(track, at(from), 'a');
      if (to !== null) sink.end(track, at(to), slice);
    });
    expect(text.lines).toEqual(lines);
    expect(text.specs).toHaveLength(lines.length === 0 ? 0 : 1);
    expect(part.slices).toEqual({ coll: lines.length === 0 ? 0 : 1, op: 0, step: 0 });
  });

  it('keeps the slices around it, outermost first', () => {
    const { text } = clip((sink, track) => {
      const outer = sink.begin(track, at(10), 'outer', { args: [['n', 1]] });
      const gone = sink.begin(track, at(20), 'gone');
      sink.end(track, at(30), gone);
      const inner = sink.begin(track, at(40), 'inner');
      sink.instant(track, at(110), 'now');
      sink.end(track, at(120), inner);
      sink.end(track, at(130), outer, { args: [['m', 2]] });
    });
    expect(text.lines).toEqual([
      '100 [calls] begin outer n=1 beforeWindowNs=90',
      '100 [calls] begin inner beforeWindowNs=60',
      '110 [calls] instant now',
      '120 [calls] end inner',
      '130 [calls] end outer m=2',
    ]);
  });

  it('is cut like the slice around it, which goes on after the window', () => {
    const { text } = clip((sink, track) => {
      const outer = sink.begin(track, at(10), 'outer');
      const late = sink.begin(track, at(250), 'late');
      sink.end(track, at(260), late);
      sink.end(track, at(300), outer);
    });
    expect(text.lines).toEqual([
      '100 [calls] begin outer beforeWindowNs=90',
      '200 [calls] end outer afterWindowNs=100',
    ]);
  });
});

it('counters and states enter the window with their value', () => {
  const { text } = clip((sink) => {
    const bytes = sink.describe({ kind: 'counter', name: 'bytes', rank: 1, unit: 'bytes' });
    const thread = sink.describe({ kind: 'state', name: 'thread', rank: 2 });
    const quiet = sink.describe({ kind: 'counter', name: 'quiet', rank: 3, unit: 'bytes' });
    sink.counter(bytes, at(10), 1);
    sink.counter(bytes, at(20), 2);
    sink.counter(quiet, at(30), 7);
    sink.state(thread, at(40), 'Idle');
    sink.counter(bytes, at(150), 3);
    sink.state(thread, at(160), 'Active');
    sink.counter(bytes, at(250), 4);
    sink.state(thread, at(260), 'Idle');
  });
  expect(text.lines).toEqual([
    '100 [bytes] = 2',
    '150 [bytes] = 3',
    '100 [thread] state Idle',
    '160 [thread] state Active',
    '200 [thread] state -',
    '100 [quiet] = 7',
  ]);
});

it('deeper tracks have a window of their own, and the tracks above are described with them', () => {
  const part = (draw: (sink: BlockWriter, op: TrackRef, slot: TrackRef) => void) =>
    clip(
      (sink) => {
        const op = sink.describe({ kind: 'slices', name: 'op', rank: 0, detail: 'op' });
        const slot = sink.describe({ kind: 'slices', name: 'slot', rank: 0, parent: op, detail: 'step' });
        draw(sink, op, slot);
      },
      { coll: ALWAYS, op: null, step: WINDOW },
    );
  const onOp = part((sink, op) => {
    sink.end(op, at(120), sink.begin(op, at(110), 'send'));
  });
  expect(onOp.text.specs).toEqual([]);
  const onSlot = part((sink, _, slot) => {
    sink.end(slot, at(120), sink.begin(slot, at(110), 'step'));
  });
  expect(onSlot.text.specs.map(({ name }) => name)).toEqual(['op', 'slot']);
  expect(onSlot.part.slices).toEqual({ coll: 0, op: 0, step: 1 });
});

it('arrows end only at slices that were drawn', () => {
  const { part } = clip((sink, track) => {
    const flow = (lo: number) => ({ flow: { hi: 1, lo } });
    sink.end(track, at(20), sink.begin(track, at(10), 'out', flow(1)));
    sink.end(track, at(120), sink.begin(track, at(30), 'in', flow(2)));
    sink.end(track, at(140), sink.begin(track, at(130), 'in', flow(3)));
  });
  expect([...part.flowEnds]).toEqual([0x100000002n, 0x100000003n]);
});

it('a slice that is not the innermost is a defect', () => {
  expect(() =>
    clip((sink, track) => {
      const outer = sink.begin(track, at(10), 'outer');
      sink.begin(track, at(20), 'inner');
      sink.end(track, at(30), outer);
    }),
  ).toThrow(/ends slice 0, the innermost open one is 1/);
});
