// What WebAssembly cannot do for the reader, for Node: unpack chunks at full speed, and notice reads that hang.
//
// One copy serves all threads of the process. Only stalls.cc has a state, behind a lock.

#include <napi.h>

#include "addon/decompress.h"
#include "addon/stalls.h"

namespace addon {
namespace {

using Napi::CallbackInfo;
using Napi::Env;
using Napi::Object;

/** readBegins(name), readEnds(), hideNames(): stalls.h. */
void ReadBeginsOf(const CallbackInfo& info) { ReadBegins(info[0].As<Napi::String>().Utf8Value()); }
void ReadEndsOf(const CallbackInfo&) { ReadEnds(); }
void HideNamesOf(const CallbackInfo&) { HideNames(); }

/** Goes up with every change of an argument or result. src/rankfile/addon.ts uses no other number. */
constexpr double kInterface = 5;

Object Init(Env env, Object exports) {
  exports.Set("interface", kInterface);
  exports.Set("readBegins", Napi::Function::New(env, ReadBeginsOf, "readBegins"));
  exports.Set("readEnds", Napi::Function::New(env, ReadEndsOf, "readEnds"));
  exports.Set("hideNames", Napi::Function::New(env, HideNamesOf, "hideNames"));
  AddDecompress(env, exports);
  return exports;
}

NODE_API_MODULE(nccl_trace, Init)

}  // namespace
}  // namespace addon
