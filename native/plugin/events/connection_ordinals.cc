#include "plugin/events/connection_ordinals.h"

#include <string.h>

#include "plugin/events/recorder.h"

namespace nccl_trace {

void ConnectionOrdinals::Clear() {
  if (entries_ != nullptr) memset(static_cast<void*>(entries_), 0, (mask_ + 1) * sizeof(Entry));
  has_forgotten_ended_ = has_forgotten_foreign_ = false;
}

ConnectionOrdinals::Entry* ConnectionOrdinals::Add(uint64_t context, uint64_t connection) {
  if (MayBeForgotten(context)) return nullptr;
  const uint64_t first = PlaceOf(context, connection);
  Entry* entry = FindFree(first);
  // Search once per ended communicator, so that a full table does not cost a search per operation.
  if (entry == nullptr && recorder.ended_communicators() != freed_) {
    FreeEnded();
    entry = FindFree(first);
  }
  // Once. From then on no connection of another process is counted.
  if (entry == nullptr && !has_forgotten_foreign_ && recorder.IsOurs(context)) {
    FreeForeign();
    entry = FindFree(first);
  }
  if (entry != nullptr) *entry = {context, connection, 0, 0, 0};
  return entry;
}

bool ConnectionOrdinals::MayBeForgotten(uint64_t context) const {
  if (!recorder.IsOurs(context)) return has_forgotten_foreign_;
  // Communicators beyond the table share a context.
  if (rank_file::HandlePosition(context) == rank_file::kCommNone) return true;
  return has_forgotten_ended_ && recorder.HasEnded(context);
}

ConnectionOrdinals::Entry* ConnectionOrdinals::FindFree(uint64_t first) {
  for (uint64_t probe = 0; probe < kProbes; ++probe) {
    Entry& entry = entries_[(first + probe) & mask_];
    if (entry.connection == 0 || entry.context == kFree) return &entry;
  }
  return nullptr;
}

void ConnectionOrdinals::FreeEnded() {
  freed_ = recorder.ended_communicators();
  for (uint64_t i = 0; i <= mask_; ++i) {
    Entry& entry = entries_[i];
    if (entry.connection == 0 || !recorder.IsOurs(entry.context) || !recorder.HasEnded(entry.context)) continue;
    entry.context = kFree;  // an empty entry would hide the entries behind it
    has_forgotten_ended_ = true;
  }
}

void ConnectionOrdinals::FreeForeign() {
  has_forgotten_foreign_ = true;
  for (uint64_t i = 0; i <= mask_; ++i) {
    if (entries_[i].connection != 0 && !recorder.IsOurs(entries_[i].context)) entries_[i].context = kFree;
  }
}

}  // namespace nccl_trace
