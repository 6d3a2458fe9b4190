/** The reader's interface: rank files in, plain data out (types.ts). All else in this folder is internal. */

export { EventType, eventTypeNames } from './format/nccl.js';
export {
  type ControlRequest,
  type ControlWish,
  checkMayRequest,
  isCurrent,
  requestControl,
} from './control.js';
export { describeRecord, type DescribedRecord } from './describe.js';
export { findRankFiles, type FoundFiles } from './find_files.js';
export { freeze, mayBeWritten } from './freeze.js';
export { mergedRows } from './merged_rows.js';
export { type FileTables, openRankFile, openRankFileHeader, openRankFileTables } from './rank_file.js';
export { isWrittenBy, type WrittenFile } from './process_files.js';
export {
  hasEnded,
  isFrozen,
  livingFolder,
  openFiles,
  orNull,
  statFields,
  threadsOf,
} from './process_folder.js';
export { isOfThisBoot, isStopped, processNow } from './process_now.js';
export { type Pulse, readPulse } from './pulse.js';
export { withFile } from './rank_file_source.js';
export { type RankFileStream, streamRankFile, streamSegments } from './rank_file_stream.js';
export { SAVED_RINGS } from './saved_rings.js';
export { type Snapshot, takeSnapshot } from './snapshot.js';
export { type FileSummary, type RingSummary, summarize } from './summary.js';
export { filesOfText, isRankText } from './text/parse.js';
export { rankFileLines, type Redaction, TITLE } from './text/print.js';
export { writeTextFile } from './text/write.js';
