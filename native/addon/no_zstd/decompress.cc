#include "addon/decompress.h"

namespace addon {

void AddDecompress(Napi::Env, Napi::Object) {}

}  // namespace addon
