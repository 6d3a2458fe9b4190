#include "loopback/net_events.h"

#include "loopback/event_masks.h"
#include "loopback/parse.h"
#include "nccl/net_events.h"

namespace loopback {
namespace {

constexpr size_t kAdaptiveRouting = 8192;  // larger data goes without the immediate number that ends a message
constexpr int kRdmaWrite = 0;
constexpr int kRdmaWriteWithImm = 1;
constexpr int kFirstQueuePair = 0x100;
constexpr int64_t kExternalId = 0x7F << 16 | 1;

/** The data of an unknown plugin. Its meaning is not known. */
struct ExternalData {
  uint64_t word;
};

}  // namespace

void ParseNetEvents(const std::string& text, NetEventOptions& options) {
  const std::vector<std::string> parts = Split(text, ':');
  const std::string& kind = parts[0];
  if (kind == "ib") {
    options.kind = NetEventKind::kIb;
    if (parts.size() == 2) options.queuePairs = ParseInt(parts[1], 1, RequestEvents::kMaxQueuePairs, "queue pairs");
  } else if (kind == "socket") {
    options.kind = NetEventKind::kSocket;
  } else if (kind == "sockets") {
    options.kind = NetEventKind::kSocketThreads;
  } else if (kind == "external") {
    options.kind = NetEventKind::kExternal;
  } else {
    throw UsageError("'" + text + "' is no network with events: ib[:QPS], socket, sockets, external");
  }
  if (parts.size() > (kind == "ib" ? 2 : 1)) throw UsageError("'" + text + "': only ib has a number");
}

void NetEvents::Start(void** handle, const NetParent& parent, int64_t id, void* data) {
  if (!profiler_->loaded() || (parent.mask & masks::kForNetPlugin) == 0) return;
  Event d(nccl_abi::kNetPlugin, parent.step->load(std::memory_order_relaxed), parent.rank);
  d->netPlugin.id = id;
  d->netPlugin.data = data;
  profiler_->Start(parent.context, handle, d, counts_);
}

void NetEvents::Update(void* handle, void* data) {
  if (!profiler_->loaded() || !profiler_->release().netUpdates) return;
  StateValues values;
  values.data = data;
  profiler_->State(handle, nccl_abi::kNetPluginUpdate, &values, counts_);
}

/** NULL or not. */
void NetEvents::Stop(void* handle) {
  if (!profiler_->loaded() || (profiler_->release().types & masks::kForNetPlugin) == 0) return;
  profiler_->Stop(handle, counts_);
}

void RequestEvents::Posted(NetEvents& events, const NetParent& parent, bool isSend, int fd, uint64_t slot,
                           size_t bytes) {
  if (!events.on()) return;
  parent_ = parent;
  isSend_ = isSend;
  fd_ = fd;
  reported_ = 0;
  if (events.options().kind == NetEventKind::kIb) StartQueuePairs(events, slot, bytes);
}

void RequestEvents::StartQueuePairs(NetEvents& events, uint64_t slot, size_t bytes) {
  for (int i = 0; i < events.options().queuePairs; i++) {
    Poisoned<nccl_abi::NetIbV1> data;
    data->type = 1;
    data->device = 0;
    data->wr_id = slot;
    data->qpNum = kFirstQueuePair + i;
    if (isSend_) {
      data->opcode = bytes > kAdaptiveRouting ? kRdmaWrite : kRdmaWriteWithImm;
      data->length = bytes;  // of the request, before it is divided among queue pairs
    }
    events.Start(&handles_[i], parent_, nccl_abi::kNetIdIbV1, &*data);
  }
}

void RequestEvents::StartSocket(NetEvents& events, size_t bytes) {
  Poisoned<nccl_abi::NetSocketV1> data;
  data->type = 1;
  data->fd = fd_;
  data->op = isSend_ ? 0 : 1;
  data->length = bytes;
  events.Start(&handles_[0], parent_, nccl_abi::kNetIdSocketV1, &*data);
}

void RequestEvents::Moved(NetEvents& events, size_t moved, size_t total) {
  Poisoned<ExternalData> data;
  data->word = moved;
  switch (events.options().kind) {
    case NetEventKind::kIb:
      while (reported_ < events.options().queuePairs &&
             moved * events.options().queuePairs >= total * (reported_ + 1)) {
        events.Stop(handles_[reported_++]);
      }
      return;
    case NetEventKind::kSocket:
    case NetEventKind::kSocketThreads:
      if (reported_++ == 0) StartSocket(events, total);
      return;
    case NetEventKind::kExternal:
      if (reported_ == 0) events.Start(&handles_[0], parent_, kExternalId, &*data);
      if (reported_ <= 1 && moved * 2 >= total) events.Update(handles_[0], &*data);
      reported_ = moved * 2 >= total ? 2 : 1;
      return;
    case NetEventKind::kNone:
      return;
  }
}

void RequestEvents::Completed(NetEvents& events) {
  Poisoned<ExternalData> data;
  data->word = 0;
  switch (events.options().kind) {
    case NetEventKind::kIb:
      for (int i = 0; i < events.options().queuePairs; i++) events.Stop(handles_[i]);
      return;
    case NetEventKind::kExternal:
      events.Update(handles_[0], &*data);
      events.Stop(handles_[0]);
      return;
    case NetEventKind::kSocket:
    case NetEventKind::kSocketThreads:
      events.Stop(handles_[0]);
      return;
    case NetEventKind::kNone:
      return;
  }
}

}  // namespace loopback
