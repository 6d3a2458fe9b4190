// The exported tables of all interface versions as bytes, not structs. The offsets are copied from NCCL's interface a second
// time, so that a wrong offset in native/nccl/ is found. Bytes outside of all fields are 0xA5.

#pragma once

#include <algorithm>
#include <vector>

#include "format/rank_file.h"
#include "test/nccl.h"

namespace nccl_trace_test::raw {

constexpr int kVersions = 7;
constexpr int kNone = -1;

struct Layout {
  size_t bytes;
  int mask;
  int64_t type_bytes;
  struct {
    int name, comm_hash, sequence, func, send, receive, count, root, datatype, channels, warps, algo, proto, group, tag;
    int variant = kNone, symmetric = kNone;
  } coll;
  struct {
    int name, comm_hash, func, buffer, datatype, count, peer, channels, group, tag;
  } p2p;
  int timer;  // of kernelCh; kNone: it has none
};

// clang-format off
constexpr Layout kLayouts[kVersions + 1] = {
    {},
    {120, 0x3F, 1,
     {24, 32, 40, 48, 56, 64, 72, 80, 84, 104, 105, 106, 107, kNone, kNone},
     {24, 32, 40, 48, 56, 64, 72, kNone, kNone, kNone}, kNone},
    {128, 0x3F, 1,
     {24, 32, 40, 48, 56, 64, 72, 80, 88, 104, 105, 112, 120, kNone, kNone},
     {24, 32, 40, 48, 56, 64, 72, kNone, kNone, kNone}, kNone},
    {120, 0xFF, 1,
     {24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 97, 104, 112, kNone, kNone},
     {24, 32, 40, 48, 56, 64, 72, kNone, kNone, kNone}, kNone},
    {104, 0xFF, 1,
     {kNone, kNone, 24, 32, 40, 48, 56, 64, 72, 80, 81, 88, 96, kNone, kNone},
     {kNone, kNone, 24, 32, 40, 48, 56, 60, kNone, kNone}, 32},
    {112, 0xFFF, 8,
     {kNone, kNone, 24, 32, 40, 48, 56, 64, 72, 80, 81, 88, 96, 104, kNone},
     {kNone, kNone, 24, 32, 40, 48, 56, 60, 64, kNone}, 32},
    {112, 0x7FFF, 8,
     {kNone, kNone, 24, 32, 40, 48, 56, 64, 72, 80, 81, 88, 96, 104, kNone},
     {kNone, kNone, 24, 32, 40, 48, 56, 60, 64, kNone}, 32},
    {136, 0xFFFF, 8,
     {kNone, kNone, 24, 32, 40, 48, 56, 64, 72, 80, 81, 88, 96, 104, 128, 112, 120},
     {kNone, kNone, 24, 32, 40, 48, 56, 60, 64, 72}, 32},
};

/** Of RCCL, which calls it v7, too: it ends before the tag of a collective. */
constexpr Layout kRccl = {128, 0xFFFF, 8,
     {kNone, kNone, 24, 32, 40, 48, 56, 64, 72, 80, 81, 88, 96, 104, kNone, 112, 120},
     {kNone, kNone, 24, 32, 40, 48, 56, 60, 64, kNone}, 32};
// clang-format on

/** NCCL's table of any version, without its types. */
struct RawTable {
  const char* name;
  void* init;
  int (*start)(void* context, void** handle, void* descriptor);
  int (*stop)(void* handle);
  int (*state)(void* handle, int state, void* args);
  int (*finalize)(void* context);
};

constexpr uint64_t kCommHash = 0xABCDEF0123456789;
constexpr uint64_t kTimer = 1'756'135'989'724'672'000;
constexpr uint64_t kTag = 0x7A67'0000'0000'0001;
constexpr uint64_t kCeColl = 0x1000, kCeSync = 0x2000, kCeBatch = 0x4000, kKernelPhase = 0x8000;

inline int version;
inline const Layout* layout;
inline const RawTable* table;
inline bool has_tags;

class Bytes {
 public:
  Bytes(uint64_t type, uint64_t parent, int32_t rank) {
    // Exactly the descriptor's size, so that ASan finds reads behind it.
    bytes_.resize(layout->bytes, 0xA5);
    memcpy(bytes_.data(), &type, static_cast<size_t>(layout->type_bytes));
    Put(8, parent);
    Put(16, rank);
  }
  template <typename T>
  Bytes& Put(int offset, T value) {
    if (offset == kNone) return *this;
    CHECK(offset + sizeof(value) <= bytes_.size());
    memcpy(&bytes_[static_cast<size_t>(offset)], &value, sizeof(value));
    return *this;
  }
  uint64_t Start(void* context) {
    void* handle = nullptr;
    CHECK_EQ(table->start(context, &handle, bytes_.data()), 0);
    // As NCCL's stack does.
    std::fill(bytes_.begin(), bytes_.end(), 0x5A);
    return reinterpret_cast<uint64_t>(handle);
  }

 private:
  std::vector<uint8_t> bytes_;
};

/** v1 to v3 have 16 bytes of arguments, then 8. */
inline void State(uint64_t handle, int state, uint64_t value, uint32_t steps = 0xA5A5A5A5) {
  const bool has_steps = version < 4;
  std::vector<uint8_t> args(has_steps ? 16 : 8, 0xA5);
  memcpy(args.data(), &value, sizeof(value));
  if (has_steps) memcpy(&args[8], &steps, sizeof(steps));
  CHECK_EQ(table->state(reinterpret_cast<void*>(handle), state, args.data()), 0);
}
inline void StateWithoutArgs(uint64_t handle, int state) {
  CHECK_EQ(table->state(reinterpret_cast<void*>(handle), state, nullptr), 0);
}
inline void Stop(uint64_t handle) { CHECK_EQ(table->stop(reinterpret_cast<void*>(handle)), 0); }
inline void Finalize(void* context) { CHECK_EQ(table->finalize(context), 0); }

using LoggerFunction = void(int32_t, unsigned long, const char*, int, const char*, ...);
inline LoggerFunction* logger = Logger;

inline void* Init() {
  void* context = reinterpret_cast<void*>(0xBAD);
  static int mask;
  const char* name = "a name";
  int result;
  if (version < 4) {
    result = reinterpret_cast<int (*)(void**, int*)>(table->init)(&context, &mask);
  } else if (version == 4) {
    result = reinterpret_cast<int (*)(void**, int*, const char*, uint64_t, int, int, int, LoggerFunction*)>(
        table->init)(&context, &mask, name, kCommHash, 2, 4, 1, logger);
  } else {
    result = reinterpret_cast<int (*)(void**, uint64_t, int*, const char*, int, int, int, LoggerFunction*)>(
        table->init)(&context, kCommHash, &mask, name, 2, 4, 1, logger);
  }
  CHECK_EQ(result, 0);
  CHECK_EQ(mask, layout->mask);
  return context;
}

}  // namespace nccl_trace_test::raw
