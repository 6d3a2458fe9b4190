// Wrong calls that a plugin must survive. NCCL makes some of them and could make the others. The thread that has just made
// a real call makes them, with that call's arguments, and counts them like all others. The job never sees their handles.

#pragma once

namespace loopback {

/** In the order in which they take turns. */
enum Abuse {
  kRepeatedStart,  // a start once more; the new event is never stopped
  kDoubleStop,
  kStateAfterStop,
  kNullHandle,     // stop and states of NULL
  kStaleHandle,    // stop of an event long over
  kStaleParent,    // a start with such an event as its parent
  kGarbageHandle,  // the content of an uninitialised variable
  kUnknownType,
  kUnknownState,
  kNullContext,
  kNullParent,
  kNullStrings,
};
constexpr int kAbuses = kNullStrings + 1;

}  // namespace loopback
