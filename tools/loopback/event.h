// An event inside NCCL, independent of the plugin's version: the newest descriptor, and fields that only old versions
// have. The senders (sender.h) convert it for one version.

#pragma once

#include <cstring>

#include "nccl/profiler_v7.h"

namespace loopback {

constexpr int kPoison = 0xA5;

/**
 * Memory as a plugin must expect it: bytes that are not set are garbage during the call, and all bytes are garbage
 * afterwards.
 */
template <typename T>
class Poisoned {
 public:
  Poisoned() { memset(&value_, kPoison, sizeof value_); }
  ~Poisoned() {
    memset(&value_, 0x5A, sizeof value_);
    asm volatile("" : : "r"(&value_) : "memory");  // else the compiler drops stores that are never read
  }
  Poisoned(const Poisoned&) = delete;
  Poisoned& operator=(const Poisoned&) = delete;

  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }
  T& operator*() { return value_; }
  const T& operator*() const { return value_; }

 private:
  T value_;
};

using EventFields = nccl_abi::v7::Descriptor;

/** For abuse: a type and a state that no version has. If types are bytes, the third byte of this one. */
constexpr uint64_t kUnknownEventType = 0xC30000;
constexpr int32_t kUnknownEventState = 99;

struct Event {
  Event(uint64_t type, void* parent, int rank = 0) {
    fields->type = type;
    fields->parentObj = parent;
    fields->rank = rank;
  }
  EventFields* operator->() { return &*fields; }
  const EventFields* operator->() const { return &*fields; }

  Poisoned<EventFields> fields;

  // For Coll and P2p: the communicator until v3, the traffic until v2.
  const char* commName = nullptr;
  uint64_t commHash = 0;
  size_t trafficBytes = 0;
};

/** The values of a state. Which of them are meaningful depends on the state. */
struct StateValues {
  size_t transSize = 0;  // of a step; of an operation so far
  int32_t steps = 0;     // of an operation so far, until v3
  int32_t appended = 0;
  uint64_t pTimer = 0;
  void* data = nullptr;  // the network's
};

/** What init may say about a communicator. */
struct CommInfo {
  uint64_t id;
  const char* name;
  int nNodes;
  int nRanks;
  int rank;
};

}  // namespace loopback
