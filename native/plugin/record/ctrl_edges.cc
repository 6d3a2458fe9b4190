#include "plugin/record/ctrl_edges.h"

#include "plugin/record/folds.h"

namespace nccl_trace {
namespace {

/** Has the tick of the present call, because ticks in a ring must grow with positions. */
void WriteLateStart(CtrlEdges& edges, Ring& ring, uint64_t tick) {
  const uint64_t position = Append(ring, rank_file::kStartProxyCtrl, tick, edges.parent, edges.comm_word);
  edges.recorded_as = ring.HandleAt(position);
}

}  // namespace

bool CountEdge(CtrlEdges& edges, Ring& ring, uint64_t& handle, uint32_t state, uint64_t tick) {
  if (edges.recorded_as == 0) {
    const uint32_t edge = state - kFirstEdgeState;
    const uint64_t anchor = edge < kEdgeStates ? edges.anchors[edge] : 0;
    if (anchor != 0 && ring.folds != nullptr) {
      FoldKnownRepeat(ring, anchor, state, tick);
      edges.last_edge_tick = tick;
      edges.counted = true;
      return true;
    }
    WriteLateStart(edges, ring, tick);
  }
  handle = edges.recorded_as;
  return false;
}

bool StopEdge(CtrlEdges& edges, Ring& ring, uint64_t& handle, uint64_t tick) {
  const bool nothing_to_record = edges.counted && edges.recorded_as == 0;
  if (!nothing_to_record) {
    if (edges.recorded_as == 0) WriteLateStart(edges, ring, tick);
    handle = edges.recorded_as;
  }
  edges.given = 0;
  return nothing_to_record;
}

void LeaveOpenStart(CtrlEdges& edges, Ring& ring, uint64_t tick) {
  if (!edges.counted && edges.recorded_as == 0) WriteLateStart(edges, ring, tick);
  edges.given = 0;
}

void EndBurst(CtrlEdges& edges, Ring& ring, uint64_t tick) {
  for (uint64_t& anchor : edges.anchors) {
    if (anchor != 0) FoldStop(ring, anchor, tick);
    anchor = 0;
  }
  edges.newest_anchor = 0;
}

}  // namespace nccl_trace
