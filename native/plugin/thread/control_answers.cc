#include "plugin/thread/control_answers.h"

#include "plugin/record/ring.h"

namespace nccl_trace {

void ControlAnswers::Answer() {
  rank_file::FileHeader& header = image_.header();
  ControlRequest request;
  if (!ReadControl(image_, keeper_->copy_fd(), request)) return;
  const uint64_t answered = Load(header.control_answered);
  if (request.number == answered || !ChecksOut(request, order_->tag)) return;
  const uint64_t sample = request.sample != 0 ? request.sample : order_->settings.sample_every;
  if ((request.events & ~order_->event_mask) != 0 || sample > INT32_MAX) {
    Store(header.control_refused, Load(header.control_refused) + 1);
  } else {
    // Taken before the change: from here on a missing record proves nothing, also if the process is killed in between.
    const uint64_t before = ReadTick(tick_source_);
    Store(header.changed_tick, before);
    if (!order_->apply(request.events, sample)) return;
    Write({before, ReadTick(tick_source_), request.events, static_cast<uint32_t>(sample)});
  }
  Store(header.control_answered, uint64_t{request.number});
  keeper_->CopyTableAndHeader(order_->layout.control);
}

void ControlAnswers::LookAtMask() {
  rank_file::FileHeader& header = image_.header();
  uint64_t events;
  if (order_->find_foreign_events(events)) {
    Store(header.changed_tick, looked_);
    const auto sample = static_cast<uint32_t>(Load(header.sample_now));
    Write({looked_, ReadTick(tick_source_), static_cast<uint32_t>(events), sample});
    keeper_->CopyTableAndHeader(order_->layout.control);
  }
  looked_ = ReadTick(tick_source_);
}

void ControlAnswers::Write(const ControlChange& change) {
  rank_file::FileHeader& header = image_.header();
  WriteControlChange(image_, order_->layout.areas[order_->layout.control], changes_++, change);
  Store(header.mask_now, uint64_t{change.events});
  Store(header.sample_now, uint64_t{change.sample_every});
}

}  // namespace nccl_trace
