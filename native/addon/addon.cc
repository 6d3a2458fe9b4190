// What WebAssembly cannot do for the reader, for Node: unpack chunks at full speed, and notice reads that hang.
//
// One copy serves all threads of the process. Only stalls.cc has a state, behind a lock.

#include <napi.h>
#include <sys/file.h>

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

/** lock(fd): whether no other process holds this file. Then this one does, until it closes the descriptor or ends. Node has no flock(2). */
Napi::Value LockOf(const CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), flock(info[0].As<Napi::Number>().Int32Value(), LOCK_EX | LOCK_NB) == 0);
}

/** Goes up with every change of an argument or result. src/rankfile/addon.ts uses no other number. */
constexpr double kInterface = 6;

Object Init(Env env, Object exports) {
  exports.Set("interface", kInterface);
  exports.Set("readBegins", Napi::Function::New(env, ReadBeginsOf, "readBegins"));
  exports.Set("readEnds", Napi::Function::New(env, ReadEndsOf, "readEnds"));
  exports.Set("hideNames", Napi::Function::New(env, HideNamesOf, "hideNames"));
  exports.Set("lock", Napi::Function::New(env, LockOf, "lock"));
  AddDecompress(env, exports);
  return exports;
}

NODE_API_MODULE(nccl_trace, Init)

}  // namespace
}  // namespace addon
