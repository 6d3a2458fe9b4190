// Decides which image the process records into. The recorder's thread makes it and may hang on a disk. Init waits for it
// at most 2 s.
//
//   init's thread                         recorder's thread
//   Await       ◀─── kRingReady ────────── OfferRings: the ring file, where there may be one
//      │        ◀─── kReady ────────────── OfferAll: rank file; without a ring file its mapping is the image
//      │ after 1.7 s: takes the ring file, or maps anonymous memory
//      └─ kLate or kAbandoned ───────────▶ goes on with that image; copies it into the rank file when there is one
//
// The phase is one atomic word changed by compare-and-swap: exactly one side's image is used.

#pragma once

#include <atomic>

#include "plugin/record/image.h"

namespace nccl_trace {

class ImageOffer {
 public:
  /** Call it before both sides begin. `image`: the thread's, complete before it is offered. */
  void Use(const Image* image) { image_ = image; }

  /** Init's side. Without base: there is not even memory. */
  Image Await(uint64_t bytes);
  /** True if init took memory. The thread's files must not be read then. */
  bool abandoned() const { return phase_.load(std::memory_order_acquire) == kAbandoned; }
  /** True if the rank file was not there in time. */
  bool late() const { return abandoned() || phase_.load(std::memory_order_acquire) == kLate; }

  /** The thread's side. False: init went on without it. */
  bool OfferRings();
  bool OfferAll();
  bool IsAwaited() const { return phase_.load(std::memory_order_acquire) == kStarting; }
  /** Init's image, after an offer returned false. */
  const Image& abandoned_image() const { return abandoned_image_; }

  /** The side that comes first sets it. 0: not set yet. */
  uint32_t tick_source() const { return tick_source_.load(std::memory_order_relaxed); }
  void ChooseTicks(uint32_t source) {
    uint32_t undecided = 0;
    tick_source_.compare_exchange_strong(undecided, source);
  }

 private:
  enum Phase : uint32_t { kStarting, kRingReady, kReady, kLate, kAbandoned };

  Image GoOnWithoutFile(uint64_t bytes);
  bool TakeRings();

  const Image* image_;
  std::atomic<uint32_t> phase_;
  std::atomic<uint32_t> tick_source_;
  Image abandoned_image_;  // init's: complete before phase_ becomes kAbandoned
};

}  // namespace nccl_trace
