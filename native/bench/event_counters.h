// The processor's own counts of this thread, where the kernel lets us read them. Unlike times they are the same on a busy
// machine.

#pragma once

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nccl_trace_bench {

struct EventCounts {
  uint64_t instructions, branch_misses;
};

class EventCounters {
 public:
  EventCounters() {
    leader_ = Open(PERF_COUNT_HW_INSTRUCTIONS, -1);
    if (leader_ >= 0) follower_ = Open(PERF_COUNT_HW_BRANCH_MISSES, leader_);
  }
  ~EventCounters() {
    if (leader_ >= 0) close(leader_);
    if (follower_ >= 0) close(follower_);
  }
  EventCounters(const EventCounters&) = delete;
  EventCounters& operator=(const EventCounters&) = delete;

  bool work() const { return follower_ >= 0; }

  void Begin() {
    ioctl(leader_, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
    ioctl(leader_, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
  }
  /** Since Begin, user mode only. */
  EventCounts End() {
    ioctl(leader_, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
    uint64_t words[3] = {};
    if (read(leader_, words, sizeof(words)) != sizeof(words)) return {};
    return {words[1], words[2]};
  }

 private:
  static int Open(uint64_t event, int group) {
    perf_event_attr attributes = {};
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof(attributes);
    attributes.config = event;
    attributes.disabled = group < 0;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_GROUP;
    return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, group, PERF_FLAG_FD_CLOEXEC));
  }

  int leader_ = -1;
  int follower_ = -1;
};

}  // namespace nccl_trace_bench
