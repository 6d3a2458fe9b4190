#include "plugin/persist/ring_savers.h"

#include <unistd.h>

#include "plugin/persist/ring_file.h"
#include "plugin/persist/saved_rings.h"
#include "plugin/process/clock.h"
#include "plugin/process/own_thread.h"

namespace nccl_trace {
namespace {

void Close(const Orphan& orphan) {
  close(orphan.rings);
  close(orphan.folder);
}

void Save(const Orphan& orphan) {
  const Saved saved = SaveRings(orphan.rings, orphan.process, orphan.own_mount);
  bool is_over = true;
  if (saved == Saved::kNotYet) is_over = orphan.last_try;
  if (saved == Saved::kElsewhere) is_over = orphan.last_try_elsewhere;
  char name[kProcessNameBytes];
  if (is_over) {
    FormatProcessName(orphan.process, kRingSuffix, name);
    unlinkat(orphan.folder, name, 0);
  }
  if (is_over || saved == Saved::kElsewhere) {
    FormatProcessName(orphan.process, kClaimSuffix, name);
    unlinkat(orphan.folder, name, 0);
  }
  Close(orphan);
}

}  // namespace

// Acquire, here and below, to see what the thread did (partner: the release in Main).
bool RingSavers::HasFree() const {
  for (const Saver& saver : savers_) {
    if (!saver.is_busy.load(std::memory_order_acquire)) return true;
  }
  return false;
}

bool RingSavers::IsAt(uint64_t tag) const {
  for (const Saver& saver : savers_) {
    if (saver.is_busy.load(std::memory_order_acquire) && saver.orphan.process.tag == tag) return true;
  }
  return false;
}

bool RingSavers::Begin(const Orphan& orphan) {
  for (Saver& saver : savers_) {
    if (saver.is_busy.load(std::memory_order_acquire)) continue;
    saver.orphan = orphan;
    saver.is_busy.store(true, std::memory_order_relaxed);
    // It inherits from the recorder's thread that all signals are blocked, and its nice value.
    if (StartThread(Main, &saver)) return true;
    saver.is_busy.store(false, std::memory_order_relaxed);
    break;
  }
  Close(orphan);
  return false;
}

void RingSavers::AwaitAll(uint64_t deadline_ns) const {
  for (const Saver& saver : savers_) {
    while (saver.is_busy.load(std::memory_order_acquire)) {
      if (ReadClockNs(CLOCK_MONOTONIC) >= deadline_ns) return;
      const timespec moment = {0, 1'000'000};
      nanosleep(&moment, nullptr);
    }
  }
}

void* RingSavers::Main(void* argument) {
  Saver& saver = *static_cast<Saver*>(argument);
  Save(saver.orphan);
  saver.is_busy.store(false, std::memory_order_release);
  return nullptr;
}

}  // namespace nccl_trace
