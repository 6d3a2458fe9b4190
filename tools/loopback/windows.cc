#include "loopback/windows.h"

#include "loopback/options.h"

namespace loopback {
namespace {

constexpr size_t kFlagBytes = kMaxChannels * sizeof(BlockFlags);
constexpr size_t kGrain = 4096;

/** The begin of each operation's flags and buffer in a rank's part. The last number is the part's size. */
std::vector<size_t> OffsetsOf(const Options& options) {
  std::vector<size_t> offsets{0};
  for (const ScriptOp& op : OpsOf(options.script)) {
    if (EngineOf(op.func, options) == Engine::kKernel) continue;
    const size_t rounded = op.bytes + options.ranks * kElementBytes;  // to whole blocks of all ranks
    offsets.push_back(offsets.back() + RoundUp(kFlagBytes + rounded, kGrain));
  }
  return offsets;
}

void Number(Script& script, const Options& options, int* next) {
  for (ScriptItem& item : script) {
    if (item.kind == ScriptItem::Kind::kOp && EngineOf(item.op.func, options) != Engine::kKernel) {
      item.op.window = (*next)++;
    }
    Number(item.body, options, next);
  }
}

}  // namespace

Engine EngineOf(Func func, const Options& options) {
  if (options.copyEngine && func == Func::kAllGather) return Engine::kCopyEngine;
  const bool canBeSymmetric = func == Func::kAllReduce || func == Func::kAllGather || func == Func::kReduceScatter;
  return options.symmetric && canBeSymmetric ? Engine::kSymmetric : Engine::kKernel;
}

void NumberWindows(Options& options) {
  int next = 0;
  Number(options.script, options, &next);
}

size_t WindowBytes(const Options& options) { return OffsetsOf(options).back() * options.ranks; }

Windows::Windows(const Options& options, char* memory) : memory_(memory), offsets_(OffsetsOf(options)) {}

Window Windows::Of(int worldRank, int window) const {
  char* const begin = memory_ + worldRank * offsets_.back() + offsets_[window];
  return {reinterpret_cast<BlockFlags*>(begin), reinterpret_cast<float*>(begin + kFlagBytes)};
}

}  // namespace loopback
