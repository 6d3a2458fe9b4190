/** What the kernel asks of the host while it draws: `DrawingHost` in src/kernel/host/drawing.ts. */

/** Takes a chunk of whole packets. It must read the bytes at once. */
export declare function passOn(at: usize, length: i32): void;

/** Writes the packet that opens a sequence at `packetRoom`. Returns how many bytes it has. */
export declare function openSequence(id: f64, isDelta: bool): i32;

/** The same for the packet that describes a track. `what` and the numbers say what it shows (tracks.ts). */
export declare function describeTrack(
  track: i32,
  parent: i32,
  uuid: f64,
  parentUuid: f64,
  what: i32,
  a: f64,
  b: f64,
  c: f64,
  d: f64,
): i32;

/** Whether the first screen may show the track: then the host wants to know what stays open there. Asked when it was described. */
export declare function isWatched(track: i32): bool;

/** Throws the error of a caller that broke a rule (refused.ts has the reasons). */
export declare function refuse(track: i32, at: f64, reason: i32, number: f64, other: f64): void;

/** Fills the rows of works from this one on (work_ends.ts). */
export declare function readWorkEnds(row: i32): void;

/** Whether an arrow to that rank of a communicator can be drawn. */
export declare function sharesClock(comm: i32, peer: i32, needsCounter: bool): bool;
