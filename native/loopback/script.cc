#include "loopback/script.h"

#include <optional>

#include "loopback/parse.h"

namespace loopback {
namespace {

Func ParseFunc(const std::string& word) {
  if (word == "allreduce") return Func::kAllReduce;
  if (word == "allgather") return Func::kAllGather;
  if (word == "reducescatter") return Func::kReduceScatter;
  if (word == "send") return Func::kSend;
  if (word == "recv") return Func::kRecv;
  throw UsageError("'" + word + "' is no operation: allreduce, allgather, reducescatter, send, recv, sleep, sync");
}

/** Cuts off what follows the last `mark`, if there is one. */
std::optional<std::string> TakeAfter(std::string& text, char mark) {
  const size_t at = text.rfind(mark);
  if (at == std::string::npos) return std::nullopt;
  const std::string tail = Trim(text.substr(at + 1));
  text = Trim(text.substr(0, at));
  return tail;
}

/** From the right: protocol, size, peer, communicator; what is left is the name. `size` stays unset if not given. */
ScriptOp ParseOp(std::string text, std::optional<size_t>& size) {
  ScriptOp op{};
  if (auto proto = TakeAfter(text, '/')) op.proto = ParseProto(*proto);
  if (auto bytes = TakeAfter(text, ':')) size = ParseSize(*bytes);
  std::optional<std::string> peer = TakeAfter(text, '(');
  op.comm = TakeAfter(text, '@').value_or("world");
  op.func = ParseFunc(text);
  if (peer) {
    if (!IsP2p(op.func)) throw UsageError("only send and recv have a peer: '" + text + "(" + *peer + "'");
    if (peer->empty() || peer->back() != ')') throw UsageError("a peer ends with ')': '(" + *peer + "'");
    peer->pop_back();
  }
  op.peerDelta = peer ? ParseInt(*peer, -(1 << 20), 1 << 20, "a peer") : op.func == Func::kSend ? 1 : -1;
  return op;
}

/** Whole elements, the same number in each rank's block. */
void SetSizes(std::vector<ScriptOp>& ops, const std::vector<std::optional<size_t>>& sizes) {
  std::optional<size_t> size;
  for (size_t i = ops.size(); i-- > 0;) {
    if (sizes[i]) size = sizes[i];
    if (!size) throw UsageError(std::string(FuncName(ops[i].func)) + " needs a size, as in allreduce:4M");
    ops[i].bytes = RoundUp(*size, kElementBytes);
  }
}

ScriptItem ParseOps(const std::vector<std::string>& words, bool grouped) {
  ScriptItem item{ScriptItem::Kind::kOps, grouped, {}, 0};
  std::vector<std::optional<size_t>> sizes;
  for (const std::string& word : words) {
    sizes.emplace_back();
    item.ops.push_back(ParseOp(word, sizes.back()));
  }
  SetSizes(item.ops, sizes);
  return item;
}

/** '+' separates, unless it is the sign of a peer. */
std::vector<std::string> SplitGroup(const std::string& inside) {
  std::vector<std::string> words(1);
  bool inPeer = false;
  for (char c : inside) {
    if (c == '(') inPeer = true;
    if (c == ')') inPeer = false;
    if (c == '+' && !inPeer) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  for (std::string& word : words) word = Trim(word);
  return words;
}

ScriptItem ParseItem(const std::string& text) {
  if (text == "sync") return {ScriptItem::Kind::kSync, false, {}, 0};
  if (text.rfind("sleep:", 0) == 0) return {ScriptItem::Kind::kSleep, false, {}, ParseTime(text.substr(6))};
  if (text.rfind("group{", 0) != 0) return ParseOps({text}, false);
  if (text.back() != '}') throw UsageError("a group ends with '}': '" + text + "'");
  return ParseOps(SplitGroup(text.substr(6, text.size() - 7)), true);
}

}  // namespace

ProtoChoice ParseProto(const std::string& text) {
  if (text == "auto") return std::nullopt;
  if (text == "simple") return Proto::kSimple;
  if (text == "ll") return Proto::kLl;
  if (text == "ll128") return Proto::kLl128;
  throw UsageError("'" + text + "' is no protocol: auto, simple, ll, ll128");
}

Script ParseScript(const std::string& text) {
  Script script;
  for (std::string word : Split(text, ',')) {
    const std::optional<std::string> repeat = TakeAfter(word, '*');
    const int64_t times = repeat ? ParseInt(*repeat, 1, 100000, "a repeat count") : 1;
    const ScriptItem item = ParseItem(word);
    script.insert(script.end(), times, item);
  }
  return script;
}

}  // namespace loopback
