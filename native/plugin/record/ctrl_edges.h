// The proxy's idle and active edges (start, state 13 or 14, stop, without duration) can fire a million times a second. An
// edge within 100 us of the one before is not recorded but counted, on the handle of the last recorded edge of its kind.
// Sleep, wake-up and append (states 15 to 18) have a duration and are always recorded.
//
// A start does not say which state follows. So a start soon after an edge gets the *old* edge's handle, and nothing is
// written yet. Then
//
//   state 13 or 14, stop     one more repeat of that edge: a fold
//   any other state, stop    a record of its own: the start is written late, and NCCL's callbacks with the old handle are
//                            recorded under the new one, until the stop
//
// Owner: the producer.

#pragma once

#include <stdint.h>

#include "plugin/record/ring.h"

namespace nccl_trace {

constexpr uint32_t kFirstEdgeState = 13;  // idle; 14 is active
constexpr uint32_t kEdgeStates = 2;

struct CtrlEdges {
  uint64_t given;        // the old handle that the open start has. 0: none is open
  uint64_t recorded_as;  // the new handle for `given`. 0: nothing recorded so far
  uint64_t comm_word;    // of the open start
  uint64_t parent;       // of the open start
  uint64_t last_edge_tick;
  uint64_t newest_anchor;  // handle of the newest recorded edge. 0: none
  uint64_t anchors[kEdgeStates];
  bool counted;  // the open start is counted as a repeat

  /** Returns a handle for a start at `tick` that is not recorded yet, or 0: record it. */
  uint64_t Lend(uint64_t tick, uint64_t edge_ticks, uint64_t start_parent, uint64_t start_comm_word) {
    if (newest_anchor == 0 || tick - last_edge_tick >= edge_ticks) return 0;
    given = newest_anchor;
    recorded_as = 0;
    counted = false;
    parent = start_parent;
    comm_word = start_comm_word;
    return given;
  }

  void EdgeRecorded(uint64_t handle, uint32_t state, uint64_t tick) {
    anchors[state - kFirstEdgeState] = handle;
    newest_anchor = handle;
    last_edge_tick = tick;
  }
};

/**
 * A state of the lent handle. True: it was a repeat and is counted. Else `handle` becomes the handle to record it under,
 * and its start has been written.
 */
bool CountEdge(CtrlEdges& edges, Ring& ring, uint64_t& handle, uint32_t state, uint64_t tick);

/** The stop of the lent handle. True: nothing to record. Else as above. */
bool StopEdge(CtrlEdges& edges, Ring& ring, uint64_t& handle, uint64_t tick);

/** A new start ends the open one. If nothing followed the open one, its start is written now. */
void LeaveOpenStart(CtrlEdges& edges, Ring& ring, uint64_t tick);

/** Ends a burst of edges: writes its counts as records. */
void EndBurst(CtrlEdges& edges, Ring& ring, uint64_t tick);

}  // namespace nccl_trace
