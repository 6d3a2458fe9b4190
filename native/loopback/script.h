// The workload language: what every rank does in one iteration.
//
//   script := item (',' item)*
//   item   := op ['*' COUNT] | 'group{' op ('+' op)* '}' ['*' COUNT] | 'sleep:' TIME | 'sync'
//   op     := NAME ['@' COMM] ['(' PEER ')'] [':' SIZE] ['/' PROTO]
//   NAME   := allreduce | allgather | reducescatter | send | recv
//   PEER   := +k or -k, relative to the rank in COMM; send has +1, recv has -1 by default
//   PROTO  := simple | ll | ll128
//
// In a group an operation without a size has that of the next one which has: group{send+recv:1M}. Operations are
// enqueued without waiting, one stream per communicator; `sync` waits for all, and so does the end of an iteration.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_SCRIPT_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_SCRIPT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "loopback/plan.h"

namespace loopback {

struct ScriptOp {
  Func func;
  std::string comm;  // a communicator's name
  int peerDelta;     // Send and Recv
  size_t bytes;      // the larger buffer: AllGather and ReduceScatter have one block of it per rank
  ProtoChoice proto;
};

struct ScriptItem {
  enum class Kind { kOps, kSleep, kSync };
  Kind kind;
  bool grouped;  // between ncclGroupStart and ncclGroupEnd
  std::vector<ScriptOp> ops;
  int64_t sleepNs;
};

/** Repetitions are written out: one item for each. */
using Script = std::vector<ScriptItem>;

/** Throws UsageError with the offending word. */
Script ParseScript(const std::string& text);

/** "simple", "ll", "ll128", or "auto". */
ProtoChoice ParseProto(const std::string& text);

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_SCRIPT_H_
