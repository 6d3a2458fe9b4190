// The decoder's functions for Node. Arguments are typed arrays and numbers, which the caller has checked
// (src/rankfile/native_decoder.ts): slots are whole, stretches lie inside them.
//
// One copy serves all threads of the process. Only stalls.cc has a state, behind a lock.

#include <napi.h>
#include <string.h>

#include "addon/decompress.h"
#include "addon/records.h"
#include "addon/slots.h"
#include "addon/stalls.h"

namespace addon {
namespace {

using Napi::CallbackInfo;
using Napi::Env;
using Napi::Object;
using rank_file::Slot;

struct Slots {
  const Slot* first;
  size_t count;
};

Slots SlotsOf(const Napi::Value& value) {
  const auto words = value.As<Napi::Uint32Array>();
  return {reinterpret_cast<const Slot*>(words.Data()), words.ElementLength() / 8};
}

double Number(const Napi::Value& value) { return value.As<Napi::Number>().DoubleValue(); }
uint32_t Word(const Napi::Value& value) { return value.As<Napi::Number>().Uint32Value(); }

template <typename Array, typename Element>
Array Copied(Env env, const std::vector<Element>& from) {
  Array array = Array::New(env, from.size());
  if (!from.empty()) memcpy(array.Data(), from.data(), from.size() * sizeof(Element));
  return array;
}

/** checkRing(words, capacity, head, position) → torn slots; fills `position`. */
Napi::Value CheckRingOf(const CallbackInfo& info) {
  const Slots slots = SlotsOf(info[0]);
  auto position = info[3].As<Napi::Float64Array>();
  const uint32_t torn = CheckRing(slots.first, position.ElementLength(), Word(info[1]),
                                  static_cast<uint64_t>(Number(info[2])), position.Data());
  return Napi::Number::New(info.Env(), torn);
}

/** checkChunk(words, first, position) → torn slots; fills `position`. */
Napi::Value CheckChunkOf(const CallbackInfo& info) {
  const Slots slots = SlotsOf(info[0]);
  auto position = info[2].As<Napi::Float64Array>();
  const uint32_t torn =
      CheckChunk(slots.first, position.ElementLength(), static_cast<uint64_t>(Number(info[1])), position.Data());
  return Napi::Number::New(info.Env(), torn);
}

/** slotsOfPlanes(planes, words): fills `words`. */
void SlotsOfPlanesOf(const CallbackInfo& info) {
  const auto planes = info[0].As<Napi::Uint8Array>();
  auto words = info[1].As<Napi::Uint32Array>();
  SlotsOfPlanes(planes.Data(), words.ElementLength() / 8, reinterpret_cast<Slot*>(words.Data()));
}

/** dressSlots(words, first): in place. */
void DressSlotsOf(const CallbackInfo& info) {
  auto words = info[0].As<Napi::Uint32Array>();
  DressSlots(reinterpret_cast<Slot*>(words.Data()), words.ElementLength() / 8, static_cast<uint64_t>(Number(info[1])));
}

/** stretches(position) → Float64Array of position, index, length for each. */
Napi::Value StretchesOf(const CallbackInfo& info) {
  const auto position = info[0].As<Napi::Float64Array>();
  std::vector<double> flat;
  for (const Stretch& stretch : FindStretches(position.Data(), position.ElementLength())) {
    flat.push_back(stretch.position);
    flat.push_back(static_cast<double>(stretch.index));
    flat.push_back(static_cast<double>(stretch.length));
  }
  return Copied<Napi::Float64Array>(info.Env(), flat);
}

std::vector<Stretch> OrderOf(const Napi::Value& value) {
  const auto flat = value.As<Napi::Float64Array>();
  std::vector<Stretch> order(flat.ElementLength() / 3);
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = {flat[3 * i], static_cast<size_t>(flat[3 * i + 1]), static_cast<size_t>(flat[3 * i + 2])};
  }
  return order;
}

Carry CarryOf(const Object& object) {
  Carry carry;
  carry.covered = Number(object.Get("covered"));
  const Napi::Value value = object.Get("open");
  if (!value.IsObject()) return carry;
  const auto from = value.As<Object>();
  carry.has_open = true;
  carry.open.position = Number(from.Get("position"));
  carry.open.tick = Number(from.Get("tick"));
  carry.open.meta = Word(from.Get("meta"));
  carry.open.words[0] = Word(from.Get("word1Low"));
  carry.open.words[1] = Word(from.Get("word1High"));
  carry.open.words[2] = Word(from.Get("word2Low"));
  carry.open.words[3] = Word(from.Get("word2High"));
  const auto extra = from.Get("extra").As<Napi::Uint32Array>();
  carry.open.extra.assign(extra.Data(), extra.Data() + extra.ElementLength());
  return carry;
}

Object CarryTo(Env env, const Carry& carry) {
  Object object = Object::New(env);
  object.Set("covered", carry.covered);
  if (!carry.has_open) {
    object.Set("open", env.Null());
    return object;
  }
  Object open = Object::New(env);
  open.Set("position", carry.open.position);
  open.Set("tick", carry.open.tick);
  open.Set("meta", carry.open.meta);
  open.Set("word1Low", carry.open.words[0]);
  open.Set("word1High", carry.open.words[1]);
  open.Set("word2Low", carry.open.words[2]);
  open.Set("word2High", carry.open.words[3]);
  open.Set("extra", Copied<Napi::Uint32Array>(env, carry.open.extra));
  object.Set("open", open);
  return object;
}

template <typename Array>
auto ColumnOf(const Object& space, const char* name) {
  return space.Get(name).As<Array>().Data();
}

Columns ColumnsOf(const Object& space) {
  using Napi::Float64Array;
  using Napi::Uint32Array;
  return {
      ColumnOf<Float64Array>(space, "position"), ColumnOf<Float64Array>(space, "tick"),
      ColumnOf<Napi::Uint8Array>(space, "kind"), ColumnOf<Uint32Array>(space, "word1Low"),
      ColumnOf<Uint32Array>(space, "word1High"), ColumnOf<Uint32Array>(space, "word2Low"),
      ColumnOf<Uint32Array>(space, "word2High"), ColumnOf<Uint32Array>(space, "extraStart"),
      ColumnOf<Uint32Array>(space, "extra"),     ColumnOf<Uint32Array>(space, "kinds"),
  };
}

/**
 * assemble(words, order, carry, tickBase, farthestTick, minParts, space) → AssembledRecords, but for the records, which are in
 * `space`. Holes are a Float64Array of triples.
 */
Napi::Value AssembleOf(const CallbackInfo& info) {
  const Env env = info.Env();
  const Slots slots = SlotsOf(info[0]);
  bool lossless;
  const TickFrame frame = {info[3].As<Napi::BigInt>().Uint64Value(&lossless), Number(info[4])};
  MinParts min_parts;
  memcpy(min_parts.data(), info[5].As<Napi::Uint8Array>().Data(), min_parts.size());
  const Columns columns = ColumnsOf(info[6].As<Object>());
  const Assembled from =
      Assemble(slots.first, OrderOf(info[1]), CarryOf(info[2].As<Object>()), frame, min_parts, columns);

  std::vector<double> holes;
  for (const Hole& hole : from.holes) holes.insert(holes.end(), {hole.from, hole.end, static_cast<double>(hole.row)});
  Object result = Object::New(env);
  result.Set("rows", from.rows);
  result.Set("holes", Copied<Napi::Float64Array>(env, holes));
  result.Set("carry", CarryTo(env, from.carry));
  result.Set("tooShort", from.too_short);
  result.Set("early", from.early);
  result.Set("impossible", from.impossible);
  return result;
}

/** readBegins(name), readEnds(), hideNames(): stalls.h. */
void ReadBeginsOf(const CallbackInfo& info) { ReadBegins(info[0].As<Napi::String>().Utf8Value()); }
void ReadEndsOf(const CallbackInfo&) { ReadEnds(); }
void HideNamesOf(const CallbackInfo&) { HideNames(); }

/** Goes up with every change of an argument or result. src/rankfile/addon.ts uses no other number. */
constexpr double kInterface = 4;

Object Init(Env env, Object exports) {
  exports.Set("interface", kInterface);
  const auto add = [&](const char* name, Napi::Value (*call)(const CallbackInfo&)) {
    exports.Set(name, Napi::Function::New(env, call, name));
  };
  add("checkRing", CheckRingOf);
  add("checkChunk", CheckChunkOf);
  add("stretches", StretchesOf);
  add("assemble", AssembleOf);
  exports.Set("slotsOfPlanes", Napi::Function::New(env, SlotsOfPlanesOf, "slotsOfPlanes"));
  exports.Set("dressSlots", Napi::Function::New(env, DressSlotsOf, "dressSlots"));
  exports.Set("readBegins", Napi::Function::New(env, ReadBeginsOf, "readBegins"));
  exports.Set("readEnds", Napi::Function::New(env, ReadEndsOf, "readEnds"));
  exports.Set("hideNames", Napi::Function::New(env, HideNamesOf, "hideNames"));
  AddDecompress(env, exports);
  return exports;
}

NODE_API_MODULE(nccl_trace, Init)

}  // namespace
}  // namespace addon
