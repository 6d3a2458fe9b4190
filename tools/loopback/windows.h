// Buffers that all ranks of a communicator can reach, as memory registered with ncclCommWindowRegister. Symmetric-memory
// kernels and copy engines work on them. Each such operation of an iteration has a window of its own on every rank, with
// the flags by which blocks of different ranks wait for each other.

#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "loopback/engine.h"
#include "loopback/sizes.h"

namespace loopback {

struct Options;

/** Counts how often one block of a rank's kernel has reached each point. */
struct BlockFlags {
  std::atomic<uint64_t> ready;     // its buffer may be used by the others
  std::atomic<uint64_t> finished;  // it does not use other ranks' buffers any more
};

/** One rank's side of one operation. */
struct Window {
  BlockFlags* flags;  // of kMaxChannels blocks
  float* data;
};

/** The engine that does this operation. */
Engine EngineOf(Func func, const Options& options);

/** Gives a window to each operation of the script that needs one. */
void NumberWindows(Options& options);

/** Bytes of all windows. 0: none is needed. */
size_t WindowBytes(const Options& options);

class Windows {
 public:
  /** `memory` has WindowBytes. */
  Windows(const Options& options, char* memory);

  /** `window`: ScriptOp::window. */
  Window Of(int worldRank, int window) const;

 private:
  char* const memory_;
  std::vector<size_t> offsets_;  // of each window in a rank's part, and the part's size
};

}  // namespace loopback
