// Unpacks compressed chunks if the build found zstd. One of two files is compiled: native/addon/zstd or no_zstd.

#pragma once

#include <napi.h>

namespace addon {

/** Adds decompress(frame, size) → Uint8Array of `size` bytes, or null. Without zstd it adds nothing. */
void AddDecompress(Napi::Env env, Napi::Object exports);

}  // namespace addon
