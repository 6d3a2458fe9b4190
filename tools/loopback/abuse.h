// Wrong calls that a plugin must survive. NCCL makes some of them and could make the others. The thread that has just made
// a real call makes them, with that call's arguments, and counts them like all others. The job never sees their handles.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_ABUSE_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_ABUSE_H_

#include <string>

namespace loopback {

/** Bits, in the order in which they take turns. */
enum Abuse : unsigned {
  kRepeatedStart = 1 << 0,  // a start once more; the new event is never stopped
  kDoubleStop = 1 << 1,
  kStateAfterStop = 1 << 2,
  kNullHandle = 1 << 3,     // stop and states of NULL
  kStaleHandle = 1 << 4,    // stop of an event long over
  kStaleParent = 1 << 5,    // a start with such an event as its parent
  kGarbageHandle = 1 << 6,  // the content of an uninitialised variable
  kUnknownType = 1 << 7,
  kUnknownState = 1 << 8,
  kNullContext = 1 << 9,
  kNullParent = 1 << 10,
  kNullStrings = 1 << 11,
};
constexpr int kAbuses = 12;

/** "null-handle,unknown-type" or "all". Throws UsageError. */
unsigned ParseAbuse(const std::string& text);

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_ABUSE_H_
