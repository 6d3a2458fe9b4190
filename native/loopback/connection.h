// A connection: one direction, one channel, one peer of a communicator. It carries NCCL's step protocol between the
// simulated GPU and the proxy, through words that both poll.
//
//   sending                              receiving
//   GPU waits   head + 8 > step          proxy posts a receive into a free slot
//   GPU fills slot, size[slot], tail ──▶ (proxy sends) ══ network ══▶ data in slot, proxy moves tail
//   proxy sends, size[slot] = -1, head   GPU waits for tail, uses the slot, moves head
//
// head and tail count steps since the connection was made; a step's slot is step % 8. On connections for Send and
// Recv (`shared`) the proxy must offer each slot: there head starts 8 steps back.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_CONNECTION_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_CONNECTION_H_

#include <atomic>
#include <memory>

#include "loopback/net.h"
#include "loopback/sizes.h"

namespace loopback {

struct ProxyArgs;

class Connection {
 public:
  Connection(int channel, int peer, bool isSend, bool shared)
      : channel(channel), peer(peer), isSend(isSend), shared(shared) {
    if (isSend && shared) head.store(-static_cast<uint64_t>(kSteps), std::memory_order_relaxed);
    for (auto& size : sizes) size.store(kEmpty, std::memory_order_relaxed);
  }

  static constexpr int32_t kEmpty = -1;

  const int channel;
  const int peer;  // rank in the communicator
  const bool isSend;
  const bool shared;

  /** Where a step's data lies; slots of one slice are contiguous. */
  char* Slot(Proto proto, uint64_t step) const {
    return buffers_[static_cast<int>(proto)].get() + step % kSteps * Shape(proto).slotBytes;
  }
  /** Called before a plan that uses `proto` reaches GPU and proxy. Untouched pages cost nothing. */
  void EnsureBuffer(Proto proto) {
    std::unique_ptr<char[]>& buffer = buffers_[static_cast<int>(proto)];
    if (buffer == nullptr) buffer.reset(new char[kSteps * Shape(proto).slotBytes]);
  }

  // Between GPU and proxy. Each is written by one side with release and read by the other with acquire: what it
  // announces (slot contents, a free slot) is older.
  alignas(64) std::atomic<uint64_t> head{0};
  alignas(64) std::atomic<uint64_t> tail{0};
  std::atomic<int32_t> sizes[kSteps];  // sending: wire bytes of a filled slot; the proxy puts kEmpty back

  uint64_t gpuStep = 0;  // GPU thread only

  // Progress thread only.
  uint64_t proxyStep = 0;
  ProxyArgs* append = nullptr;   // the last operation queued on this connection
  uint32_t* ordinals = nullptr;  // shared by all connections with this channel, peer and direction
  std::unique_ptr<SendSocket> out;
  std::unique_ptr<RecvSocket> in;

 private:
  std::unique_ptr<char[]> buffers_[kProtos];
};

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_CONNECTION_H_
