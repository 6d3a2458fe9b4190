// A profiler plugin that writes every callback as a line of text, for the tests of the loopback. It has a table for
// each version, v1 to v7.
//
//   api start GroupApi 3 context=1 parent=0 depth=1 captured=0
//   progress state 7 9 transSize=524288
//   api stop 3
//
// Handles are numbers, counted from 1 in the order of the starts, contexts likewise. `rank` and other fields are
// written where NCCL sets them. Lines of one thread are in its order.
//
//   ECHO_FILE    the file is ECHO_FILE.<RANK>
//   ECHO_MASK    the activation mask (0xfff)
//   ECHO_NULL    event types that get no handle
//   ECHO_KEEP    event types whose handle's place is left as it is, except for the first event of each
//   ECHO_OFF     after this many starts the mask becomes 0
//   ECHO_INIT    what init returns; without a context, unless it is 0

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "loopback/test/echo_fields.h"

namespace {

using namespace echo;

std::mutex g_mutex;
FILE* g_file = nullptr;
uint64_t g_contexts = 0;
uint64_t g_handles = 0;
uint64_t g_starts = 0;
uint64_t g_seen = 0;  // event types
int* g_mask = nullptr;

uint64_t EnvNumber(const char* name, uint64_t otherwise) {
  const char* text = getenv(name);
  return text == nullptr ? otherwise : strtoull(text, nullptr, 0);
}

const char* ThreadLabel() {
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  if (strncmp(name, "NCCL Progress", 13) == 0) return "progress";
  if (strncmp(name, "NCCL Sock", 9) == 0) return "socket";
  if (strcmp(name, "loopback cbk") == 0) return "callback";
  if (strcmp(name, "loopback launch") == 0) return "launch";
  return gettid() == getpid() ? "api" : "profiler";
}

/** Under g_mutex. */
void Print(const std::string& text) {
  if (g_file != nullptr) fprintf(g_file, "%s %s\n", ThreadLabel(), text.c_str());
}

const char* TypeName(uint64_t type) {
  static const char* const names[] = {"Group",    "Coll",      "P2p",      "ProxyOp",    "ProxyStep", "ProxyCtrl",
                                      "KernelCh", "NetPlugin", "GroupApi", "CollApi",    "P2pApi",    "KernelLaunch",
                                      "CeColl",   "CeSync",    "CeBatch",  "KernelPhase"};
  const int bit = __builtin_ctzll(type);
  return type != 0 && (type & (type - 1)) == 0 && bit < 16 ? names[bit] : "?";
}

Result Begin(void** context, int* mask, const std::string& comm) {
  std::lock_guard<std::mutex> lock(g_mutex);
  const char* file = getenv("ECHO_FILE");
  const char* worldRank = getenv("RANK");
  if (g_file == nullptr && file != nullptr) {
    g_file = fopen((std::string(file) + "." + (worldRank == nullptr ? "" : worldRank)).c_str(), "w");
  }
  const uint64_t result = EnvNumber("ECHO_INIT", 0);
  *context = result == 0 ? reinterpret_cast<void*>(++g_contexts) : nullptr;
  g_mask = mask;
  __atomic_store_n(mask, static_cast<int>(EnvNumber("ECHO_MASK", kMaskV5)), __ATOMIC_RELAXED);
  Print(Text("init %" PRIu64 " ", g_contexts) + comm);
  if (g_file != nullptr) fflush(g_file);
  return static_cast<Result>(result);
}

Result Init(void** context, int* mask) { return Begin(context, mask, ""); }

Result InitWithInfo(void** context, uint64_t commId, int* mask, const char* name, int nNodes, int nRanks, int rank,
                    Logger) {
  return Begin(
      context, mask,
      Text("comm=%016" PRIx64 " name=%s nNodes=%d nRanks=%d rank=%d", commId, Name(name), nNodes, nRanks, rank));
}

Result InitV4(void** context, int* mask, const char* name, uint64_t hash, int nNodes, int nRanks, int rank,
              Logger logger) {
  return InitWithInfo(context, hash, mask, name, nNodes, nRanks, rank, logger);
}

template <typename Descriptor>
Result StartEvent(void* context, void** handle, Descriptor* d) {
  static const uint64_t withoutHandle = EnvNumber("ECHO_NULL", 0);
  static const uint64_t keptHandle = EnvNumber("ECHO_KEEP", 0);
  static const uint64_t offAfter = EnvNumber("ECHO_OFF", 0);
  std::lock_guard<std::mutex> lock(g_mutex);
  const bool keep = (d->type & keptHandle & g_seen) != 0;
  if (!keep) *handle = (d->type & withoutHandle) != 0 ? nullptr : reinterpret_cast<void*>(++g_handles);
  g_seen |= d->type;
  if (++g_starts == offAfter) __atomic_store_n(g_mask, 0, __ATOMIC_RELAXED);
  Print(Text("start %s %" PRIuPTR " context=%" PRIuPTR " parent=%" PRIuPTR " ", TypeName(d->type), Number(*handle),
             Number(context), Number(d->parentObj)) +
        Fields(*d) + PaddingOf(*d));
  return kSuccess;
}

Result StopEvent(void* handle) {
  std::lock_guard<std::mutex> lock(g_mutex);
  Print(Text("stop %" PRIuPTR, Number(handle)));
  return kSuccess;
}

template <typename Args>
Result RecordEventState(void* handle, EventState state, Args* args) {
  std::lock_guard<std::mutex> lock(g_mutex);
  Print(Text("state %" PRIuPTR " %d", Number(handle), state) + (args == nullptr ? " args=NULL" : ArgsOf(state, *args)));
  return kSuccess;
}

Result Finalize(void* context) {
  std::lock_guard<std::mutex> lock(g_mutex);
  Print(Text("finalize %" PRIuPTR, Number(context)));
  if (g_file != nullptr) fflush(g_file);
  return kSuccess;
}

}  // namespace

extern "C" {
extern const v1::Profiler ncclProfiler_v1;
extern const v2::Profiler ncclProfiler_v2;
extern const v3::Profiler ncclProfiler_v3;
extern const v4::Profiler ncclProfiler_v4;
extern const Profiler ncclProfiler_v5;
extern const Profiler ncclProfiler_v6;
extern const v7::Profiler ncclProfiler_v7;
const v1::Profiler ncclProfiler_v1 = {"echo", Init, StartEvent, StopEvent, RecordEventState, Finalize};
const v2::Profiler ncclProfiler_v2 = {"echo", Init, StartEvent, StopEvent, RecordEventState, Finalize};
const v3::Profiler ncclProfiler_v3 = {"echo", Init, StartEvent, StopEvent, RecordEventState, Finalize};
const v4::Profiler ncclProfiler_v4 = {"echo", InitV4, StartEvent, StopEvent, RecordEventState, Finalize};
const Profiler ncclProfiler_v5 = {"echo", InitWithInfo, StartEvent, StopEvent, RecordEventState, Finalize};
const Profiler ncclProfiler_v6 = {"echo", InitWithInfo, StartEvent, StopEvent, RecordEventState, Finalize};
const v7::Profiler ncclProfiler_v7 = {"echo", InitWithInfo, StartEvent, StopEvent, RecordEventState, Finalize};
}
