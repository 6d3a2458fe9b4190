/**
 * How much memory a file may take. The allocator below (AssemblyScript's stub) does not notice when its addresses run out: it begins again at the
 * first one. So whatever grows with a file asks here, before it takes a block and after each segment of records.
 */

/** Throws: the file needs so many bytes. */
declare function noRoom(bytes: f64): void;

/** Far enough below 4 GiB for what one segment of records takes without asking. */
const MOST: f64 = 2816 * 1048576;

let most: f64 = MOST;

/** `bytes`: more than MOST counts as MOST. */
export function limitRoom(bytes: f64 = MOST): void {
  most = min(bytes, MOST);
}

/** Throws if so many bytes more are too many. */
export function needRoom(more: f64 = 0): void {
  const end = heap.alloc(0);
  heap.free(end);
  const bytes = <f64>end + more;
  if (bytes > most) noRoom(bytes);
}
