#include "loopback/script.h"

#include "loopback/parse.h"

namespace loopback {
namespace {

using Kind = ScriptItem::Kind;

Func ParseFunc(const std::string& word) {
  if (word == "allreduce") return Func::kAllReduce;
  if (word == "allgather") return Func::kAllGather;
  if (word == "reducescatter") return Func::kReduceScatter;
  if (word == "broadcast") return Func::kBroadcast;
  if (word == "reduce") return Func::kReduce;
  if (word == "alltoall") return Func::kAllToAll;
  if (word == "send") return Func::kSend;
  if (word == "recv") return Func::kRecv;
  throw UsageError("'" + word +
                   "' is no operation: allreduce, allgather, reducescatter, broadcast, reduce, alltoall, send, recv, "
                   "group{}, graph{}, sleep, sync");
}

/** Cuts off what follows the last `mark`, if there is one. */
std::optional<std::string> TakeAfter(std::string& text, char mark) {
  const size_t at = text.rfind(mark);
  if (at == std::string::npos) return std::nullopt;
  const std::string tail = Trim(text.substr(at + 1));
  text = Trim(text.substr(0, at));
  return tail;
}

/** Takes "*3" after an item. A star inside its braces is not its own. */
std::optional<int64_t> TakeCount(std::string& text) {
  const size_t star = text.rfind('*');
  const size_t brace = text.rfind('}');
  if (star == std::string::npos || (brace != std::string::npos && star < brace)) return std::nullopt;
  return ParseInt(*TakeAfter(text, '*'), 1, 100000, "a repeat count");
}

int ParsePeer(Func func, std::optional<std::string> peer) {
  if (!peer) return func == Func::kSend ? 1 : func == Func::kRecv || func == Func::kAllToAll ? -1 : 0;
  const bool namesRank = HasRoot(func) || func == Func::kAllToAll;
  if (!IsP2p(func) && !namesRank) {
    throw UsageError("only send and recv have a peer, broadcast and reduce a root, alltoall a large sender: '(" +
                     *peer + "'");
  }
  if (peer->empty() || peer->back() != ')') throw UsageError("a peer ends with ')': '(" + *peer + "'");
  peer->pop_back();
  const int most = 1 << 20;
  return namesRank ? ParseInt(*peer, 0, most, "a rank") : ParseInt(*peer, -most, most, "a peer");
}

/** Takes protocol, algorithm, size, peer and communicator from the right. The rest is the name. No size: 0 and false. */
ScriptOp ParseOp(std::string text, bool* hasSize) {
  ScriptOp op{};
  while (auto word = TakeAfter(text, '/')) {
    if (*word == "i32") {
      op.asIntegers = true;
    } else if (const AlgoChoice algo = ParseAlgo(*word)) {
      op.algo = algo;
    } else {
      op.proto = ParseProto(*word);
    }
  }
  const std::optional<std::string> bytes = TakeAfter(text, ':');
  *hasSize = bytes.has_value();
  if (bytes) op.bytes = RoundUp(ParseSize(*bytes), kElementBytes);
  const std::optional<std::string> peer = TakeAfter(text, '(');
  op.comm = TakeAfter(text, '@').value_or("world");
  op.func = ParseFunc(text);
  op.peer = ParsePeer(op.func, peer);
  if (op.algo && op.func != Func::kAllReduce) throw UsageError("only allreduce has a choice of algorithms");
  return op;
}

/** Splits at separators outside of braces and parentheses, because in parentheses '+' is a sign. */
std::vector<std::string> SplitOutside(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : text) {
    if (c == '(' || c == '{') depth += 1;
    if (c == ')' || c == '}') depth -= 1;
    if (c == separator && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part = Trim(part);
  return parts;
}

class Parser {
 public:
  /** Parses one item with the sizes of all its operations, and repeats it by its count. */
  std::vector<ScriptItem> TopItem(std::string text) {
    const int64_t times = TakeCount(text).value_or(1);
    if (text == "sync") return std::vector<ScriptItem>(times, {Kind::kSync});
    if (text.rfind("sleep:", 0) == 0) {
      ScriptItem sleep{Kind::kSleep};
      sleep.sleepNs = ParseTime(text.substr(6));
      return std::vector<ScriptItem>(times, sleep);
    }
    if (text.rfind("graph{", 0) == 0) {
      ScriptItem graph{Kind::kGraph, {}, Parts(Inside(text, 6))};
      graph.replays = times;
      return {graph};
    }
    return std::vector<ScriptItem>(times, Part(text));
  }

 private:
  static std::string Inside(const std::string& text, size_t begin) {
    if (text.back() != '}') throw UsageError("a closing '}' is missing: '" + text + "'");
    return text.substr(begin, text.size() - begin - 1);
  }

  /** From the last to the first, because an operation without size has the size of the next one with a size. */
  std::vector<ScriptItem> Parts(const std::string& text) {
    const std::vector<std::string> texts = SplitOutside(text, '+');
    std::vector<ScriptItem> parts;
    for (size_t i = texts.size(); i-- > 0;) {
      std::string part = texts[i];
      const int64_t times = TakeCount(part).value_or(1);
      parts.insert(parts.begin(), times, Part(part));
    }
    return parts;
  }

  ScriptItem Part(const std::string& text) {
    if (text.rfind("group{", 0) == 0) return {Kind::kGroup, {}, Parts(Inside(text, 6))};
    bool hasSize = false;
    ScriptItem item{Kind::kOp, ParseOp(text, &hasSize)};
    if (hasSize) size_ = item.op.bytes;
    if (!size_) throw UsageError(std::string(FuncName(item.op.func)) + " needs a size, as in allreduce:4M");
    item.op.bytes = *size_;
    return item;
  }

  std::optional<size_t> size_;
};

void AddOps(const std::vector<ScriptItem>& items, std::vector<ScriptOp>& ops) {
  for (const ScriptItem& item : items) {
    if (item.kind == Kind::kOp) ops.push_back(item.op);
    AddOps(item.body, ops);
  }
}

}  // namespace

ProtoChoice ParseProto(const std::string& text) {
  if (text == "auto") return std::nullopt;
  if (text == "simple") return Proto::kSimple;
  if (text == "ll") return Proto::kLl;
  if (text == "ll128") return Proto::kLl128;
  throw UsageError("'" + text + "' is no protocol: auto, simple, ll, ll128");
}

AlgoChoice ParseAlgo(const std::string& text) {
  if (text == "ring") return Algo::kRing;
  if (text == "tree") return Algo::kTree;
  return std::nullopt;
}

Script ParseScript(const std::string& text) {
  Script script;
  for (const std::string& word : SplitOutside(text, ',')) {
    const std::vector<ScriptItem> items = Parser().TopItem(word);
    script.insert(script.end(), items.begin(), items.end());
  }
  return script;
}

std::vector<ScriptOp> OpsOf(const Script& script) {
  std::vector<ScriptOp> ops;
  AddOps(script, ops);
  return ops;
}

}  // namespace loopback
