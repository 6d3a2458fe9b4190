// A communicator of this process: its ring, its connections, and the counters NCCL keeps with it.

#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "loopback/comm_spec.h"
#include "loopback/connection.h"
#include "loopback/nodes.h"
#include "loopback/script.h"
#include "loopback/tree.h"

namespace loopback {

/** Names a connection on this rank. The key of its other end has the opposite `isSend`. */
struct ConnectionKey {
  int peer;
  int channel;
  bool isSend;
  bool shared;
  bool operator<(const ConnectionKey& o) const {
    return std::tie(peer, channel, isSend, shared) < std::tie(o.peer, o.channel, o.isSend, o.shared);
  }
};

/**
 * The marks of kernels: per channel a ring of (timestamp, counter). The GPU thread writes them, the counter last. The
 * progress thread polls them.
 */
struct KernelMark {
  std::atomic<uint64_t> counter{0};
  std::atomic<uint64_t> timestamp{0};
};
using KernelMarks = std::array<KernelMark, kMaxProfilerMarks>;

/** The ends of a symmetric-memory kernel's phases. The counter of the kernel's end is stored after them. */
using PhaseMarks = std::array<std::array<std::atomic<uint64_t>, 4>, kMaxProfilerMarks>;

/** NCCL 2.31 counts symmetric-memory kernels apart from the others. */
struct SymmetricMarks {
  std::array<uint64_t, kMaxChannels> counters{};  // API thread
  std::array<KernelMarks, kMaxChannels> started;
  std::array<KernelMarks, kMaxChannels> completed;
  std::array<PhaseMarks, kMaxChannels> phases{};
};

class Comm {
 public:
  Comm(CommSpec spec, int worldRank, const Nodes& nodes, ChannelLimits limits);

  const CommSpec spec;
  const int rank;
  const int nRanks;
  /** Ranks in the order of the ring, beginning with this one. */
  const std::vector<int> ring;
  int ringNext() const { return ring[1 % nRanks]; }
  int ringPrev() const { return ring[nRanks - 1]; }
  const Tree& tree(int channel) const { return trees_[channel]; }

  const ChannelLimits& limits() const { return limits_; }

  /** The connections a workload needs: the ring on all channels, those of its trees, sends and receives. */
  std::vector<ConnectionKey> NeededConnections(const Script& script, ProtoChoice proto, AlgoChoice algo) const;
  /** `memory`: as in Connection. */
  Connection* AddConnection(const ConnectionKey& key, char* memory = nullptr);
  Connection* Find(const ConnectionKey& key) const { return connections_.at(key).get(); }

  // API thread.
  void* profilerContext = nullptr;
  const void* stream = this;           // into which it launches
  const char* reportedName = nullptr;  // to the plugin
  std::array<uint64_t, kFuncs> seqNumbers{};
  uint64_t plans = 0;
  uint32_t copyEngineCalls = 0;
  std::array<uint64_t, kMaxChannels> workCounters{};

  // Between GPU and progress thread.
  std::array<KernelMarks, kMaxChannels> workStarted;
  std::array<KernelMarks, kMaxChannels> workCompleted;
  SymmetricMarks symmetric;
  std::array<uint64_t, kMaxChannels> selfWorks{};  // GPU thread: sends to itself, which the host does not count

  // Progress thread: where the next operation is queued behind the last one.
  ProxyArgs* sharedAppend[2] = {nullptr, nullptr};  // receives, sends
  std::array<ProxyArgs*, kMaxChannels> profilerAppend{};

 private:
  void AddTransfer(std::set<ConnectionKey>& keys, int peer, bool isSend, size_t bytes, ProtoChoice proto) const;

  const int nChannels_;
  const ChannelLimits limits_;
  std::vector<Tree> trees_;  // by channel
  std::map<ConnectionKey, std::unique_ptr<Connection>> connections_;
  std::map<std::tuple<int, int, bool>, uint32_t> ordinals_;
};

}  // namespace loopback
