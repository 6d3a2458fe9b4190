#include "loopback/sizes.h"

namespace loopback {

const char* FuncName(Func func) {
  static const char* const names[kFuncs] = {"AllReduce", "AllGather", "ReduceScatter", "Broadcast",
                                            "Reduce",    "Send",      "Recv",          "AlltoAll"};
  return names[static_cast<int>(func)];
}

const char* AlgoName(Algo algo) { return algo == Algo::kTree ? "TREE" : "RING"; }

const char* ProtoName(Proto proto) {
  static const char* const names[kProtos] = {"LL", "LL128", "SIMPLE"};
  return names[static_cast<int>(proto)];
}

}  // namespace loopback
