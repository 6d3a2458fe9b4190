/** Runs when the page has loaded: reads the data in it and adds the sections below the verdict. */

import type { Frame } from '../../pytorch/calls.js';
import type { PageData } from '../page_data.js';
import { heatMap, picture, waitBars } from './charts.js';
import { h, shown } from './dom.js';
import { openTrace, saveTrace, type View } from './open_trace.js';
import { collectiveGroups, longest } from './collective_tables.js';
import { links } from './link_tables.js';
import { clocks, made, ranks, trainingSteps, waits } from './other_tables.js';
import { stepPictures } from './step_picture.js';

const data = JSON.parse(document.getElementById('data')?.textContent ?? '') as PageData;
const { report, pictures, trace } = data;
const status = document.getElementById('status')!;
const title = shown(report.headline);

const show = trace
  ? (view: View): void => {
      openTrace(trace, title, view, (text) => (status.textContent = text));
    }
  : null;

function wireButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-do]'))
    button.addEventListener('click', () => {
      if (button.dataset.do === 'save' && trace) saveTrace(trace);
      else show?.(null);
    });
}

function section(name: string, about: string, ...content: readonly (Node | null)[]): HTMLElement {
  const id = name.toLowerCase().replace(/[^a-z]+/g, '-');
  return h('section', { id }, h('h2', {}, name), h('p', { class: 'about' }, about), ...content);
}

const hasLateness = report.lateness.files.some(({ collectives }) => collectives > 0);
const hasWaits = report.ranks.some(({ waits: of }) => Object.values(of).some((ns) => ns > 0));

/** The causes, each with a button that opens the trace at the place that shows it. */
function causes(): HTMLElement | null {
  if (report.causes.length === 0) return null;
  const items = report.causes.map(({ says, about }) => {
    const onclick = (): void => show?.(about.view);
    const button = h(
      'button',
      { type: 'button', class: 'small', onclick, title: 'Open the trace there' },
      'Open',
    );
    return h('li', {}, shown(says), ' ', show ? button : null);
  });
  return section(
    'Why it is slow',
    'Causes with their evidence, and what is not known.',
    h('ul', {}, ...items),
  );
}

/** The Python stacks of the stuck call. */
function pythonCalls(): HTMLElement | null {
  const { flightRecorder } = report;
  if (flightRecorder === null) return null;
  const { matched, verdict } = flightRecorder;
  const stack = (who: string, frames: readonly Frame[]): HTMLElement[] => {
    const width = frames.reduce((most, { name }) => Math.max(most, shown(name).length), 0);
    const lines = frames.map(
      ({ name, file, line }) => `${shown(name).padEnd(width)}  ${shown(file)}:${line}`,
    );
    const text = lines.length === 0 ? 'The dump holds no Python stack.' : lines.join('\n');
    return [h('h3', {}, shown(who)), h('pre', { tabindex: '0' }, text)];
  };
  const waiting =
    matched?.stacks.map(({ ranks, frames }) =>
      stack(`${ranks.length > 1 ? 'Ranks' : 'Rank'} ${ranks.join(', ')} in ${matched.op}`, frames),
    ) ?? [];
  const withDump = verdict.findings.filter(({ rule }) => rule !== 'no dump');
  const named = withDump.flatMap(({ says, about }) =>
    about.named.map(({ rank, last }) =>
      stack(
        `${says}. The last call of rank ${rank}${last ? `, ${last.op},` : ''} came from`,
        last?.frames ?? [],
      ),
    ),
  );
  return section(
    'Python calls',
    'From the dumps of PyTorch’s Flight Recorder: where the code called what is stuck, the innermost line first.',
    ...[...waiting, ...named].flat(),
  );
}

/** The training steps in the files of `--with`. */
const steps = (): HTMLElement | null =>
  report.trainingSteps.length === 0
    ? null
    : section(
        'Training steps',
        'How long NCCL’s kernels ran in each step, how much of that other kernels of the process covered, and the rest, which is exposed: the step could be shorter by it at most. Copies are neither. Kernels of all streams count together, each moment once.',
        stepPictures(pictures, show),
        trainingSteps(report, show),
      );

document
  .getElementById('sections')!
  .append(
    ...[causes(), pythonCalls(), steps()].filter((found) => found !== null),
    section(
      'Around the moment',
      'What every rank did: one bar per collective, from its arrival to its end. A rank that the verdict names has its colour and says why.',
      picture(report),
    ),
    section(
      'Who waits for whom',
      'Receives that waited for data and sends that waited for room, by pair of ranks. Waits that have not ended come first, those of ranks without a sign of life last. A wait is summed over the transfers of all channels, up to 8 at once on each, so the sum may be much longer than the run.',
      waits(report, show),
    ),
    section(
      'Where the time went',
      'What the network transfers of each rank waited for, summed. Transfers run side by side, so the sum may be longer than the run. The ranks that the verdict names come first. “Waited for in” counts the collectives in which all others waited for this rank alone, because it called last or because its GPU began last.',
      hasWaits ? waitBars(report) : h('p', { class: 'none' }, 'No transfer was recorded.'),
      ranks(report),
    ),
    section(
      'Collectives',
      'By communicator, function and size class. Bandwidth by the formulas of nccl-tests, from the last arrival to the end; in brackets from the first. “Of allowed” compares it with what the links allow: the rate of the communicator’s best link times the channels, or --peak.',
      collectiveGroups(report),
    ),
    section(
      'Lateness',
      'How long after the first rank each rank arrived: the mean, by time. A straggler is a row of strong colour. A column of strong colour means that all ranks but the first were late at that time.',
      hasLateness
        ? heatMap(report)
        : h(
            'p',
            { class: 'none' },
            'No collective was seen on all its ranks with clocks that can be compared.',
          ),
      longest(report, show),
    ),
    section(
      'Links',
      'From one rank to another, all channels together, and by channel. A send is timed by the sender’s own clock, from its last poll for room to its end. The time until arrival uses the clocks of both ranks and has their bound. Latency and rate are those of the line time = latency + size / rate: through all transfers, or (min) through the least time of each size. They are empty if no line fits.',
      links(report),
    ),
    section('Clocks', 'How far times of different hosts can be compared.', clocks(report)),
    section('How this was made', '', made(report)),
  );
wireButtons();
// After the pictures, which are drawn in the next frame.
requestAnimationFrame(() => (document.documentElement.dataset.ready = 'yes'));
