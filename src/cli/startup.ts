/**
 * What the Perfetto UI is told to do when it has loaded the trace: pin the cluster group, the ranks that the verdict is about
 * and the connection it says to look at, so that the first screen has them side by side. Commands and their arguments are the
 * UI's stable automation API.
 */

export interface StartupCommand {
  readonly id: string;
  readonly args: readonly string[];
}

/** As many ranks as a screen has room for. */
const MOST_RANKS = 4;

/** `facts`: of the trace, null for one that is not ours. `more`: the person's own patterns, of tracks' names. */
export function startupCommands(
  facts: ReadonlyMap<string, string> | null,
  more: readonly string[],
): StartupCommand[] {
  const ours = facts === null ? [] : [CLUSTER, ...suspectsOf(facts).map(collectivesOf), ...lookAtOf(facts)];
  return [
    ...ours.map((pattern) => ({ id: PIN, args: [pattern, 'path'] })),
    ...more.map((pattern) => ({ id: PIN, args: [pattern, 'name'] })),
  ];
}

const PIN = 'dev.perfetto.PinTracksByRegex';

/** A path is "group > track". Each communicator's own line in the group on top. */
const CLUSTER = '(^|> )Cluster > .*\\((\\d+ ranks|size not told)\\)( ·\\d+)?$';

/** Titles of processes as the trace has them: "rank 0003 · host · gpu3". */
const collectivesOf = (title: string): string =>
  `(^|> )${escaped(title)}\\b.* > .* · (collectives|point-to-point)( ·\\d+)?$`;

/** Both ends of the connection that the verdict says to look at: "title > group > track". */
function lookAtOf(facts: ReadonlyMap<string, string>): string[] {
  return ['nccl_trace.look_at', 'nccl_trace.look_at_other_end'].flatMap((key) => {
    const [title, ...below] = (facts.get(key) ?? '').split(' > ');
    if (title === undefined || below.length === 0) return [];
    return [`(^|> )${escaped(title)}\\b.* > ${escaped(below.join(' > '))}( ·\\d+)?$`];
  });
}

function suspectsOf(facts: ReadonlyMap<string, string>): string[] {
  const text = facts.get('nccl_trace.suspects') ?? '';
  return text === '' || text === 'none' ? [] : text.split('; ').slice(0, MOST_RANKS);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
