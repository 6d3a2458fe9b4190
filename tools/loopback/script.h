// The workload language: what every rank does in one iteration.
//
//   script := item (',' item)*
//   item   := part ['*' COUNT] | 'graph{' parts '}' ['*' REPLAYS] | 'sleep:' TIME | 'sync'
//   part   := op | 'group{' parts '}'
//   parts  := part ['*' COUNT] ('+' part ['*' COUNT])*
//   op     := NAME ['@' COMM] ['(' PEER ')'] [':' SIZE] ['/' ALGO] ['/' PROTO] ['/i32']
//   NAME   := allreduce | allgather | reducescatter | broadcast | reduce | alltoall | send | recv
//   PEER   := +k or -k, relative to the rank in COMM; send has +1, recv has -1 by default
//             broadcast and reduce: the root, a rank of COMM (0)
//             alltoall: the rank of COMM that sends kLargeBlock times as much as the others (none)
//   ALGO   := ring | tree (allreduce only)
//   PROTO  := simple | ll | ll128
//
// In a group an operation without size has the size of the next one with a size: group{send+recv:1M}. Operations are
// enqueued without waiting, in one stream per communicator. `sync` and the end of an iteration wait for all. A graph is
// captured in the first iteration, and then replayed REPLAYS times in every iteration.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loopback/partition.h"

namespace loopback {

/** Blocks of the large sender of an AlltoAll, in blocks of the others. */
constexpr size_t kLargeBlock = 16;

struct ScriptOp {
  Func func;
  std::string comm;  // a communicator's name
  int peer;          // Send, Recv: relative to the own rank; Broadcast, Reduce: the root; AlltoAll: the large sender
  size_t bytes;      // the larger buffer: of AllGather, ReduceScatter and AlltoAll, one block per rank
  ProtoChoice proto;
  AlgoChoice algo;
  bool asIntegers = false;  // reported as integers. The numbers are floats all the same
  int window = 0;           // number of its window, if it works on windows
};

struct ScriptItem {
  enum class Kind { kOp, kGroup, kGraph, kSleep, kSync };
  Kind kind;
  ScriptOp op{};                   // kOp
  std::vector<ScriptItem> body{};  // kGroup: between ncclGroupStart and ncclGroupEnd; kGraph: what is captured
  int64_t replays = 0;             // kGraph
  int64_t sleepNs = 0;             // kSleep
};

/** Repetitions are written out: one item for each. */
using Script = std::vector<ScriptItem>;

/** Throws UsageError with the offending word. */
Script ParseScript(const std::string& text);

/** All operations in order, also those in groups and graphs. */
std::vector<ScriptOp> OpsOf(const Script& script);

/** "simple", "ll", "ll128", or "auto". */
ProtoChoice ParseProto(const std::string& text);
/** "ring" or "tree". Nothing: the text is neither. */
AlgoChoice ParseAlgo(const std::string& text);

}  // namespace loopback
