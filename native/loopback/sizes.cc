#include "loopback/sizes.h"

namespace loopback {

const char* FuncName(Func func) {
  static const char* const names[kFuncs] = {"AllReduce", "AllGather", "ReduceScatter", "Send", "Recv"};
  return names[static_cast<int>(func)];
}

const char* ProtoName(Proto proto) {
  static const char* const names[kProtos] = {"LL", "LL128", "SIMPLE"};
  return names[static_cast<int>(proto)];
}

}  // namespace loopback
