#include "plugin/persist/image_offer.h"

#include "plugin/process/futex.h"

namespace nccl_trace {
namespace {

// Init returns within 2 s. The rest is for mapping memory instead of a file.
constexpr uint64_t kInitWaitMs = 1'700;

}  // namespace

Image ImageOffer::Await(uint64_t bytes) {
  const uint64_t deadline = DeadlineIn(kInitWaitMs);
  for (;;) {
    const uint32_t phase = phase_.load(std::memory_order_acquire);
    if (phase == kReady) return *image_;
    if (!WaitWhile(phase_, phase, deadline)) return GoOnWithoutFile(bytes);
  }
}

/** The disk did not answer in time. Records without it. The thread notices at its next offer. */
Image ImageOffer::GoOnWithoutFile(uint64_t bytes) {
  if (TakeRings()) return *image_;
  ChooseTicks(rank_file::kTickMonotonic);
  const Image anonymous = AnonymousImage(bytes);
  // Release, after abandoned_image_ is complete (partner: the acquire in the thread's offers).
  abandoned_image_ = anonymous;
  uint32_t starting = kStarting;
  if (phase_.compare_exchange_strong(starting, kAbandoned, std::memory_order_acq_rel)) return anonymous;
  // The file came at the last moment: use it.
  if (anonymous.base != nullptr) munmap(anonymous.base, anonymous.bytes);
  TakeRings();
  return *image_;
}

bool ImageOffer::TakeRings() {
  uint32_t ring_ready = kRingReady;
  return phase_.compare_exchange_strong(ring_ready, kLate, std::memory_order_acq_rel) || ring_ready == kReady;
}

bool ImageOffer::OfferRings() {
  uint32_t starting = kStarting;
  if (!phase_.compare_exchange_strong(starting, kRingReady, std::memory_order_acq_rel)) return false;
  WakeAll(phase_);
  return true;
}

bool ImageOffer::OfferAll() {
  uint32_t phase = phase_.load(std::memory_order_acquire);
  while (phase == kStarting || phase == kRingReady) {
    if (!phase_.compare_exchange_weak(phase, kReady, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    WakeAll(phase_);
    return true;
  }
  return phase != kAbandoned;
}

}  // namespace nccl_trace
