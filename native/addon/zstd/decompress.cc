#include "addon/decompress.h"

#include <zstd.h>

namespace addon {
namespace {

/** The caller has compared `size` with what the frame claims. */
Napi::Value Decompress(const Napi::CallbackInfo& info) {
  const auto frame = info[0].As<Napi::Uint8Array>();
  const size_t size = info[1].As<Napi::Number>().Uint32Value();
  auto raw = Napi::Uint8Array::New(info.Env(), size);
  const size_t got = ZSTD_decompress(raw.Data(), size, frame.Data(), frame.ByteLength());
  if (ZSTD_isError(got) || got != size) return info.Env().Null();
  return raw;
}

}  // namespace

void AddDecompress(Napi::Env env, Napi::Object exports) {
  exports.Set("decompress", Napi::Function::New(env, Decompress, "decompress"));
}

}  // namespace addon
