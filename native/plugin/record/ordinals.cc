#include "plugin/record/ordinals.h"

#include <stdlib.h>

namespace nccl_trace {

void PeerOrdinals::Reset(int peers) {
  constexpr int kMostPeers = 1 << 20;
  const uint32_t wanted = peers > 0 && peers <= kMostPeers ? static_cast<uint32_t>(peers) : 0;
  std::atomic<uint32_t>* counts = counts_.load(std::memory_order_relaxed);
  peers_.store(0, std::memory_order_relaxed);
  if (wanted > capacity_) {
    void* memory = malloc(wanted * 2 * sizeof(*counts));
    if (memory == nullptr) return;
    counts = static_cast<std::atomic<uint32_t>*>(memory);
    counts_.store(counts, std::memory_order_relaxed);
    capacity_ = wanted;
  }
  for (uint32_t i = 0; i < wanted * 2; ++i) counts[i].store(0, std::memory_order_relaxed);
  peers_.store(wanted, std::memory_order_relaxed);
}

void ReplayOrdinals::Reset() {
  for (auto& row : cells_) {
    for (auto& cell : row) cell.store(0, std::memory_order_relaxed);
  }
}

}  // namespace nccl_trace
