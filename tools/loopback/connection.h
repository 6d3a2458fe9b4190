// A connection: one direction, channel and peer of a communicator. The simulated GPU and the proxy run NCCL's step
// protocol over it, by words that both poll.
//
//   sending                              receiving
//   GPU waits   head + 8 > step          proxy posts a receive into a free slot
//   GPU fills slot, size[slot], tail ──▶ (proxy sends) ══ network ══▶ data in slot, proxy moves tail
//   proxy sends, size[slot] = -1, head   GPU waits for tail, uses the slot, moves head
//
// head and tail count steps since the connection was made; a step's slot is step % 8. On connections for Send and
// Recv (`shared`) the proxy must offer each slot: there head starts 8 steps back.

#pragma once

#include <atomic>
#include <memory>

#include "loopback/net.h"
#include "loopback/sizes.h"

namespace loopback {

class Pxn;
struct ProxyArgs;

/** Where the slots of a protocol begin in memory that two processes share; before them lie the words. */
constexpr size_t SharedOffset(Proto proto) {
  size_t offset = 4096;
  for (int i = 0; i < static_cast<int>(proto); i++) offset += kSteps * kProtoShapes[i].slotBytes;
  return offset;
}

class Connection {
 private:
  struct Words {
    alignas(64) std::atomic<uint64_t> head{0};
    alignas(64) std::atomic<uint64_t> tail{0};
    std::atomic<int32_t> sizes[kSteps];
  };

 public:
  static constexpr size_t kSharedBytes =
      RoundUp(SharedOffset(Proto::kSimple) + kSteps * Shape(Proto::kSimple).slotBytes, 4096);

  /** `memory`: kSharedBytes of zeros if two processes share the connection, else null. */
  Connection(int channel, int peer, bool isSend, bool shared, char* memory)
      : channel(channel),
        peer(peer),
        isSend(isSend),
        shared(shared),
        memory_(memory),
        words_(memory == nullptr ? ownWords_ : *reinterpret_cast<Words*>(memory)),
        head(words_.head),
        tail(words_.tail),
        sizes(words_.sizes) {
    if (isSend && shared) head.store(-static_cast<uint64_t>(kSteps), std::memory_order_relaxed);
    for (auto& size : words_.sizes) size.store(kEmpty, std::memory_order_relaxed);
  }

  static constexpr int32_t kEmpty = -1;
  static constexpr int32_t kBegun = 0;

  const int channel;
  const int peer;  // rank in the communicator
  const bool isSend;
  const bool shared;

  /** Where a step's data lies; slots of one slice are contiguous. */
  char* Slot(Proto proto, uint64_t step) const {
    char* const buffer = memory_ == nullptr ? buffers_[static_cast<int>(proto)].get() : memory_ + SharedOffset(proto);
    return buffer + step % kSteps * Shape(proto).slotBytes;
  }
  /** Call it before GPU and proxy get a launch plan that uses `proto`. Untouched pages cost nothing. */
  void EnsureBuffer(Proto proto) {
    if (memory_ != nullptr) return;
    std::unique_ptr<char[]>& buffer = buffers_[static_cast<int>(proto)];
    if (buffer == nullptr) buffer.reset(new char[kSteps * Shape(proto).slotBytes]);
  }

  uint64_t gpuStep = 0;  // GPU thread only

  // Progress thread only.
  uint64_t proxyStep = 0;
  ProxyArgs* append = nullptr;   // the last operation queued on this connection
  uint32_t* ordinals = nullptr;  // shared by all connections with this channel, peer and direction
  Pxn* executor = nullptr;       // API thread: the process that executes this connection's sends, if it is not this one
  std::unique_ptr<SendSocket> out;
  std::unique_ptr<RecvSocket> in;

 private:
  char* const memory_;
  Words ownWords_;
  Words& words_;
  std::unique_ptr<char[]> buffers_[kProtos];

 public:
  // Between GPU and proxy. One side writes with release, the other reads with acquire, so that what the value announces
  // (slot contents, a free slot) comes before it.
  std::atomic<uint64_t>& head;
  std::atomic<uint64_t>& tail;
  std::atomic<int32_t>* const
      sizes;  // sending: wire bytes of a filled slot; the proxy puts kEmpty back. Receiving: kBegun in
              // the first step's place when the kernel of a registered buffer has begun
};

}  // namespace loopback
