/** The drawn clocks of the hosts: pieces of their maps and their incidents, on the trace's axis. */

import { localNs } from '../base/time.js';
import { mapPieces, toTrace, withinTrace } from '../clocks/clock_map.js';
import type { Culprit } from '../clocks/contradictions.js';
import type { ClockDomain, ClockSolution } from '../clocks/domains.js';
import { wallSteps } from '../clocks/wall_steps.js';
import type { ClockIncident, ClockPiece, HostClock } from './tracks/clock_tracks.js';
import type { Run } from '../runs/run.js';
import type { TrafficFacts } from '../clocks/evidence/run_clocks.js';

/** `duration`: of the trace, ns; the last piece of a clock lasts to its end. */
export function hostClocks(
  run: Run,
  solution: ClockSolution,
  traffic: TrafficFacts | null,
  duration: number,
): HostClock[] {
  return solution.domains.map((domain, index) => ({
    title: domain.hostName || domain.name,
    description: describe(run, domain),
    pieces: pieces(domain, duration),
    incidents: [...steps(run, solution, domain), ...contradictions(index, solution, traffic)].map(
      (incident) => ({
        ...incident,
        at: withinTrace(incident.at, duration),
      }),
    ),
  }));
}

function describe(run: Run, { name, files }: ClockDomain): string {
  const ranks = files.map((file) => String(run.members[file]?.rank ?? '?')).join(', ');
  return (
    `The clock of ranks ${ranks} (${name}). hardBoundNs: no evidence allows a larger error against the reference host; ` +
    'bound99Ns: likewise for 99 %, assuming that similar links have similar minimum delays. driftPpm: its rate beyond its nominal one.'
  );
}

function pieces({ map }: ClockDomain, duration: number): ClockPiece[] {
  return mapPieces(map, duration).map(({ from, to, segment }) => {
    const { source, hardBound, bound99, drift, flags } = segment;
    return { from, to, source, hardBound, bound99, driftPpm: drift * 1e6, flags };
  });
}

function steps(run: Run, { scales }: ClockSolution, { files, map }: ClockDomain): ClockIncident[] {
  const samples = files.map((file) => ({
    scale: scales[file]!,
    samples: run.members[file]!.scan.clockSamples,
  }));
  return wallSteps(samples).map(({ at, by }) => ({
    at: toTrace(map, at),
    name: 'wall clock stepped',
    byNs: by,
  }));
}

/** A jump is given on the coarse axis of the evidence. A contradiction of a link holds for the whole run. */
function contradictions(
  index: number,
  { domains }: ClockSolution,
  traffic: TrafficFacts | null,
): ClockIncident[] {
  if (!traffic) return [];
  const { alignment, evidence } = traffic;
  const { map } = domains[index]!;
  const incident = (culprit: Culprit): ClockIncident[] => {
    if (culprit.what === 'link')
      return culprit.from === index
        ? [
            {
              at: withinTrace(0, 0),
              name: 'transfers left out',
              byNs: culprit.by,
              to: domains[culprit.to]!.hostName,
            },
          ]
        : [];
    const local = localNs(culprit.at - evidence.coarse[index]!);
    if (culprit.what === 'clock-unsteady')
      return culprit.domains.includes(index)
        ? [{ at: toTrace(map, local), name: 'clock unsteady', byNs: culprit.by }]
        : [];
    if (culprit.domain === index)
      return [{ at: toTrace(map, local), name: 'clock jumped', byNs: culprit.jump }];
    // One of the two is at fault.
    if (culprit.other === index)
      return [{ at: toTrace(map, local), name: 'clock jumped', byNs: -culprit.jump }];
    return [];
  };
  return alignment.culprits.flatMap(incident);
}
