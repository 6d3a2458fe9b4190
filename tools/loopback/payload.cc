#include "loopback/payload.h"

namespace loopback {
namespace {

constexpr float kUnset = -1;

uint32_t Base(size_t i, uint64_t salt) { return (i + salt) & 1023; }

void Fill(float* to, size_t n, uint64_t salt, int rank) {
  for (size_t i = 0; i < n; i++) to[i] = Base(i, salt) + rank;
}

void Unset(float* to, size_t n) {
  for (size_t i = 0; i < n; i++) to[i] = kUnset;
}

/** Expects factor · base + addend. `first`: index of the data's first element in the pattern. */
std::optional<Mismatch> Check(const float* data, size_t n, uint64_t salt, size_t first, int factor, int addend) {
  for (size_t i = 0; i < n; i++) {
    const float expected = factor * static_cast<int>(Base(first + i, salt)) + addend;
    if (data[i] != expected) return Mismatch{i, data[i], expected};
  }
  return std::nullopt;
}

std::optional<Mismatch> CheckBlocks(const Task& task, uint64_t salt) {
  for (int r = 0; r < task.comm->nRanks; r++) {
    auto mismatch = Check(task.buffer + r * task.count, task.count, salt, 0, 1, r);
    if (!mismatch) continue;
    mismatch->index += r * task.count;
    return mismatch;
  }
  return std::nullopt;
}

}  // namespace

void FillInput(const Task& task) {
  const int rank = task.comm->rank;
  const uint64_t salt = task.salt;
  const size_t elements = task.bytes / kElementBytes;
  switch (task.func) {
    case Func::kAllGather:
      Unset(task.buffer, elements);
      Fill(task.buffer + rank * task.count, task.count, salt, rank);
      return;
    case Func::kBroadcast:
      rank == task.peer ? Fill(task.buffer, elements, salt, rank) : Unset(task.buffer, elements);
      return;
    case Func::kRecv:
      Unset(task.buffer, elements);
      return;
    default:
      Fill(task.buffer, elements, salt, rank);
  }
}

std::optional<Mismatch> CheckOutput(const Task& task) {
  const uint64_t salt = task.salt;
  const int n = task.comm->nRanks;
  const int rank = task.comm->rank;
  const int sumOfRanks = n * (n - 1) / 2;
  switch (task.func) {
    case Func::kAllReduce:
      return Check(task.buffer, task.count, salt, 0, n, sumOfRanks);
    case Func::kReduceScatter:
      return Check(task.buffer + rank * task.count, task.count, salt, rank * task.count, n, sumOfRanks);
    case Func::kAllGather:
      return CheckBlocks(task, salt);
    case Func::kReduce:
      if (rank == task.peer) return Check(task.buffer, task.count, salt, 0, n, sumOfRanks);
      [[fallthrough]];
    case Func::kSend:
      return Check(task.buffer, task.count, salt, 0, 1, rank);
    default:
      return Check(task.buffer, task.count, salt, 0, 1, task.peer);
  }
}

}  // namespace loopback
