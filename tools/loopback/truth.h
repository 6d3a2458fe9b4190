// Writes what a rank really did, one JSON object per line. README.md lists the fields. Each line is one write, so written
// lines survive a SIGKILL.

#pragma once

#include <string>
#include <vector>

#include "loopback/comm.h"
#include "loopback/gpu_clock.h"
#include "loopback/profiler.h"
#include "loopback/pxn.h"
#include "loopback/task.h"

namespace loopback {

/** The calls of a whole process. */
struct CallTotals {
  std::vector<const CallCounts*> threads;
  int inits;
  int finalizes;

  uint64_t Calls() const;
  uint64_t Starts(int bit) const {
    return Sum([=](const CallCounts& c) { return c.starts(bit); });
  }
  uint64_t States(int state) const {
    return Sum([=](const CallCounts& c) { return c.states(state); });
  }
  uint64_t Stops() const {
    return Sum([](const CallCounts& c) { return c.stops(); });
  }

 private:
  template <typename Count>
  uint64_t Sum(Count count) const {
    uint64_t sum = 0;
    for (const CallCounts* counts : threads) sum += count(*counts);
    return sum;
  }
};

class Truth {
 public:
  /** Without a directory it writes nothing. */
  Truth(const std::string& dir, int rank);

  void Process(int rank, int worldSize, const Profiler& profiler);
  void Gpu(const GpuClock& clock);
  void Communicator(const Comm& comm);
  /** Writes the task and its proxy operations, finished or not. */
  void TaskDone(const Task& task);
  /** Writes an operation that was executed for another rank of the world. */
  void ForeignOpDone(const ForeignOp& op, int origin);
  /** `final`: no more calls will be made. */
  void Totals(const CallTotals& totals, bool final);

 private:
  void Line(const std::string& json);

  int fd_ = -1;
};

}  // namespace loopback
