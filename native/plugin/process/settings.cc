#include "plugin/process/settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "plugin/process/event_names.h"

namespace nccl_trace {
namespace {

constexpr uint64_t kSmallestRingBytes = uint64_t{1} << 16;  // 1/16 MB
constexpr uint64_t kLargestRingMb = 16384;
// With less, the file could hold one chunk only.
constexpr uint64_t kLeastChunkMb = 4;
constexpr uint64_t kLargestMaxMb = uint64_t{1} << 30;

/** The variable's value, or null if it is unset or empty. */
const char* Variable(const char* name) {
  const char* value = getenv(name);
  return value != nullptr && value[0] != '\0' ? value : nullptr;
}

/** Reads the whole text as a number: decimal, or hexadecimal with 0x. Not by strtoull, which takes signs and locales. */
bool ParseNumber(const char* text, uint64_t& number) {
  const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const uint64_t base = hex ? 16 : 10;
  if (hex) text += 2;
  if (*text == '\0') return false;
  number = 0;
  for (; *text != '\0'; ++text) {
    const char c = static_cast<char>(*text | 0x20);
    uint64_t digit;
    if (c >= '0' && c <= '9' && *text == c) {
      digit = static_cast<uint64_t>(c - '0');
    } else if (hex && c >= 'a' && c <= 'f') {
      digit = static_cast<uint64_t>(c - 'a' + 10);
    } else {
      return false;
    }
    if (__builtin_mul_overflow(number, base, &number) || __builtin_add_overflow(number, digit, &number)) {
      return false;
    }
  }
  return true;
}

struct Decimal {
  uint64_t whole;
  uint64_t millionths;
};

/** Reads a number such as "64" or "0.25". `text` is then at the character after it. */
bool TakeDecimal(const char*& text, uint64_t most, Decimal& number) {
  number = {0, 0};
  bool has_digits = false;
  for (; *text >= '0' && *text <= '9'; ++text, has_digits = true) {
    number.whole = number.whole * 10 + static_cast<uint64_t>(*text - '0');
    if (number.whole > most) return false;
  }
  if (*text == '.') {
    uint64_t scale = 1'000'000;
    for (++text; *text >= '0' && *text <= '9'; ++text, has_digits = true) {
      number.millionths += static_cast<uint64_t>(*text - '0') * (scale /= 10);
    }
  }
  return has_digits;
}

/** Reads megabytes such as "64" or "0.25". Returns bytes. */
bool ParseMegabytes(const char* text, uint64_t most_mb, uint64_t& bytes) {
  Decimal number;
  if (!TakeDecimal(text, most_mb, number) || *text != '\0') return false;
  bytes = (number.whole << 20) + (number.millionths << 20) / 1'000'000;
  return bytes <= most_mb << 20;
}

void ReadRingBytes(Settings& settings, Complaints& complaints) {
  const char* text = Variable("NCCL_TRACE_RING_MB");
  if (text == nullptr) return;
  uint64_t bytes;
  if (ParseMegabytes(text, kLargestRingMb, bytes) && bytes >= kSmallestRingBytes) {
    settings.ring_bytes = bytes;
  } else {
    complaints.Add("NCCL_TRACE_RING_MB=%.64s is not a size from 0.0625 to %llu; using %llu", text,
                   static_cast<unsigned long long>(kLargestRingMb),
                   static_cast<unsigned long long>(settings.ring_bytes >> 20));
  }
}

/** Call it after ReadRingBytes, because the rings count as part of the file. */
void ReadMaxBytes(Settings& settings, Complaints& complaints) {
  const uint64_t least = settings.ring_bytes + (kLeastChunkMb << 20);
  if (settings.max_bytes < least) settings.max_bytes = 2 * settings.ring_bytes;  // unusually large rings
  const char* text = Variable("NCCL_TRACE_MAX_MB");
  if (text == nullptr) return;
  uint64_t bytes;
  if (!ParseMegabytes(text, kLargestMaxMb, bytes)) {
    complaints.Add("NCCL_TRACE_MAX_MB=%.64s is neither 0 (no limit) nor a size; using %llu", text,
                   static_cast<unsigned long long>(settings.max_bytes >> 20));
    return;
  }
  settings.max_bytes = bytes == 0 || bytes >= least ? bytes : least;
  if (settings.max_bytes == bytes) return;
  // A limit that is too small becomes the least that works, not the default. The message rounds up, so its number works.
  complaints.Add("NCCL_TRACE_MAX_MB=%.64s is less than NCCL_TRACE_RING_MB + %llu, the least that works; using %llu",
                 text, static_cast<unsigned long long>(kLeastChunkMb),
                 static_cast<unsigned long long>((least + 0xFFFFF) >> 20));
}

void ReadSampling(Settings& settings, Complaints& complaints) {
  const char* text = Variable("NCCL_TRACE_SAMPLE");
  if (text == nullptr) return;
  uint64_t every;
  if (ParseNumber(text, every) && every >= 1 && every <= INT32_MAX) {
    settings.sample_every = every;
  } else {
    complaints.Add("NCCL_TRACE_SAMPLE=%.64s is not a number from 1 to %d; recording everything", text, INT32_MAX);
  }
}

void ReadMode(Settings& settings, Complaints& complaints) {
  const char* text = Variable("NCCL_TRACE_MODE");
  if (text == nullptr || strcmp(text, "flight") == 0) return;
  if (strcmp(text, "stream") == 0) {
    settings.mode = rank_file::kStream;
  } else {
    complaints.Add("NCCL_TRACE_MODE=%.64s is neither flight nor stream; using flight", text);
  }
}

/** True if the user has chosen events. They are in `settings.event_mask`. */
bool ReadGivenEvents(Settings& settings, Complaints& complaints) {
  uint64_t mask;
  if (const char* text = Variable("NCCL_TRACE_EVENTS")) {
    if (strcmp(text, "default") == 0) return false;
    if (ParseEvents(text, mask)) {
      settings.event_mask = mask;
      return true;
    }
    complaints.Add(
        "NCCL_TRACE_EVENTS=%.128s: want default, all, coll, none or names such as Coll,ProxyOp; using default", text);
    return false;
  }
  if (const char* text = Variable("NCCL_PROFILE_EVENT_MASK")) {
    // -1 is all bits, as in NVIDIA's example plugin.
    if (strcmp(text, "-1") == 0) {
      settings.event_mask = kAllEvents;
      return true;
    }
    if (ParseNumber(text, mask) && mask <= INT32_MAX) {
      settings.event_mask = mask;
      return true;
    }
    complaints.Add("NCCL_PROFILE_EVENT_MASK=%.64s is not a mask (a number, or 0x...); using default", text);
  }
  return false;
}

/** What KernelCh can do to a job under this NCCL. null: nothing. */
const char* HarmOfKernels(uint8_t abi) {
  switch (abi) {
    case 3:
    case 4:
      return "NCCL 2.26 and 2.27 can fail a job with \"Proxy append out of bounds\"";
    case 6: {
      // NCCL counts kernels on the GPU and on the host. A send to itself counts on the GPU only, so the host then waits
      // for the stamps of an earlier kernel. A broadcast that NCCL turned into an AllGatherV never stores its stamps.
      uint64_t enabled;
      const char* text = Variable("NCCL_ALLGATHERV_ENABLE");
      if (text != nullptr && ParseNumber(text, enabled) && enabled == 0) return nullptr;
      return "ncclCommDestroy of NCCL 2.29 and 2.30 can wait for ever after broadcasts and sends of a rank to itself; "
             "NCCL_ALLGATHERV_ENABLE=0 prevents that";
    }
    default:
      return nullptr;
  }
}

/** Call it after ReadMode. Stream mode is for tracing now and records everything. Flight mode should cost nothing. */
void ReadEvents(Settings& settings, uint8_t abi, Complaints& complaints) {
  settings.event_mask = settings.mode == rank_file::kStream ? kAllEvents : kFlightEvents;
  const bool given = ReadGivenEvents(settings, complaints);
  // NCCL adds it by itself.
  if (abi >= 7 && (settings.event_mask & kKernelPhaseEvent) != 0) settings.event_mask |= kKernelChEvent;
  const char* harm = HarmOfKernels(abi);
  if (harm == nullptr || (settings.event_mask & kKernelChEvent) == 0) return;
  if (given) {
    complaints.Add("recording KernelCh, as asked: %s", harm);
  } else {
    settings.event_mask &= ~kKernelChEvent;
  }
}

/** A launcher's variables. All are read from the launcher that gives the rank. */
struct Launcher {
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* local_size;
};
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK", "PMIX_LOCAL_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"},
};

int32_t SmallNumber(const char* name) {
  const char* text = Variable(name);
  uint64_t number;
  return text != nullptr && ParseNumber(text, number) && number <= INT32_MAX ? static_cast<int32_t>(number) : -1;
}

RankFacts ReadRank() {
  for (const Launcher& launcher : kLaunchers) {
    const int32_t rank = SmallNumber(launcher.rank);
    if (rank < 0) continue;
    return {rank, SmallNumber(launcher.world_size), SmallNumber(launcher.local_rank), SmallNumber(launcher.local_size)};
  }
  return {-1, -1, -1, -1};
}

/** Makes any text a valid folder name. */
void MakeFileName(char* text) {
  if (text[0] == '.') text[0] = '_';
  for (; *text != '\0'; ++text) {
    const char c = *text;
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (!plain) *text = '_';
  }
}

/**
 * Uses our own variable if it is set. Else the launcher's, with the restart count, so that a restarted job gets a folder
 * of its own. torchrun calls a run without a name "none".
 */
void ReadRunId(Settings& settings) {
  constexpr const char* kJobs[][2] = {
      {"NCCL_TRACE_RUN_ID", nullptr},
      {"SLURM_JOB_ID", "SLURM_RESTART_COUNT"},
      {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"},
  };
  for (const auto& job : kJobs) {
    const char* id = Variable(job[0]);
    if (id == nullptr || strcmp(id, "none") == 0) continue;
    const char* restarts = job[1] != nullptr ? Variable(job[1]) : nullptr;
    if (restarts != nullptr && strcmp(restarts, "0") != 0) {
      snprintf(settings.run_id, sizeof(settings.run_id), "%.100s.%.20s", id, restarts);
    } else {
      snprintf(settings.run_id, sizeof(settings.run_id), "%.120s", id);
    }
    MakeFileName(settings.run_id);
    return;
  }
}

/** "50" (runs), or a size as 500GB or 1.5TiB. As the option --keep of `nccl-trace prune`. */
bool ParseKeep(const char* text, Retention& retention) {
  constexpr uint64_t kMost = uint64_t{1} << 40;
  constexpr const char* kUnits = "kMGT";
  Decimal number;
  const char* at = text;
  if (!TakeDecimal(at, kMost, number)) return false;
  if (*at == '\0' && strchr(text, '.') == nullptr) {
    // Not 0: NCCL_TRACE_MAX_MB=0 means no limit, so this could be meant as "keep all" or as "keep none".
    retention.runs = number.whole;
    return number.whole > 0;
  }
  const char* unit = *at != '\0' ? strchr(kUnits, *at) : nullptr;
  if (unit == nullptr) return false;
  const bool is_binary = at[1] == 'i';
  if (strcmp(at + (is_binary ? 2 : 1), "B") != 0) return false;
  uint64_t scale = 1;
  for (const char* step = kUnits; step <= unit; ++step) scale *= is_binary ? 1024 : 1000;
  uint64_t bytes;
  if (__builtin_mul_overflow(number.whole, scale, &bytes)) return false;
  // In two steps, so that no product overflows. At least a thousandth of the unit counts.
  bytes += scale / 1'000 * number.millionths / 1'000;
  retention.bytes = bytes;
  return bytes > 0;
}

/** "young", "unclosed" or both, with a comma between them. */
bool ParsePruneEven(const char* text, Retention& retention) {
  for (;;) {
    const char* const comma = strchr(text, ',');
    const size_t length = comma != nullptr ? static_cast<size_t>(comma - text) : strlen(text);
    const auto is = [&](const char* name) { return strlen(name) == length && strncmp(text, name, length) == 0; };
    if (is("young")) {
      retention.even_young = true;
    } else if (is("unclosed")) {
      retention.even_unclosed = true;
    } else {
      return false;
    }
    if (comma == nullptr) return true;
    text = comma + 1;
  }
}

/** Call it after ReadRunId. */
void ReadRetention(Settings& settings, Complaints& complaints) {
  settings.retention = {};
  const char* text = Variable("NCCL_TRACE_KEEP");
  if (text == nullptr) return;
  if (!ParseKeep(text, settings.retention)) {
    complaints.Add("NCCL_TRACE_KEEP=%.64s is neither a number of runs from 1 nor a size as 500GB; removing nothing",
                   text);
    settings.retention = {};
    return;
  }
  snprintf(settings.retention.keep, sizeof(settings.retention.keep), "%.31s", text);
  if (settings.run_id[0] == '\0') {
    complaints.Add("NCCL_TRACE_KEEP will never remove this run: it has no name (NCCL_TRACE_RUN_ID)");
  }
  text = Variable("NCCL_TRACE_PRUNE_EVEN");
  if (text == nullptr) return;
  Retention even = settings.retention;
  if (ParsePruneEven(text, even)) {
    settings.retention = even;
    snprintf(settings.retention.even, sizeof(settings.retention.even), "%.31s", text);
  } else {
    complaints.Add("NCCL_TRACE_PRUNE_EVEN=%.64s: want young, unclosed or both; removing neither", text);
  }
}

void ReadDirectory(Settings& settings, Complaints& complaints) {
  const char* text = Variable("NCCL_TRACE_DIR");
  if (text == nullptr) return;
  // Leave room for the run's folder and the file's name.
  if (strlen(text) < sizeof(settings.directory) - 512) {
    strcpy(settings.directory, text);
  } else {
    complaints.Add("NCCL_TRACE_DIR is too long; using %s", settings.directory);
  }
}

void ReadRingDirectory(Settings& settings, Complaints& complaints) {
  settings.ring_place = RingPlace::kChoose;
  const char* text = Variable("NCCL_TRACE_RING_DIR");
  if (text == nullptr) return;
  if (strcmp(text, "none") == 0) {
    settings.ring_place = RingPlace::kInRankFile;
  } else if (text[0] == '/' && strlen(text) < sizeof(settings.ring_directory)) {
    settings.ring_place = RingPlace::kGiven;
    strcpy(settings.ring_directory, text);
  } else {
    complaints.Add("NCCL_TRACE_RING_DIR=%.64s is neither none nor an absolute path of at most %u bytes; choosing", text,
                   kRingDirectoryBytes - 1);
  }
}

}  // namespace

void Complaints::Add(const char* format, ...) {
  if (count_ == kMost) return;
  va_list arguments;
  va_start(arguments, format);
  constexpr char kWho[] = "nccl-trace: ";
  constexpr size_t kWhoBytes = sizeof(kWho) - 1;
  char* text = texts_[count_++];
  memcpy(text, kWho, kWhoBytes);
  vsnprintf(text + kWhoBytes, sizeof(texts_[0]) - kWhoBytes, format, arguments);
  va_end(arguments);
}

void ReadSettings(Settings& settings, uint8_t abi, Complaints& complaints) {
  strcpy(settings.directory, "./nccl-trace");
  settings.mode = rank_file::kFlight;
  settings.ring_bytes = uint64_t{64} << 20;
  settings.max_bytes = uint64_t{4096} << 20;
  settings.sample_every = 1;
  ReadDirectory(settings, complaints);
  ReadMode(settings, complaints);
  ReadRingBytes(settings, complaints);
  ReadMaxBytes(settings, complaints);
  ReadEvents(settings, abi, complaints);
  ReadSampling(settings, complaints);
  ReadRingDirectory(settings, complaints);
  ReadRunId(settings);
  ReadRetention(settings, complaints);
  settings.rank = ReadRank();
  if (const char* hostid = Variable("NCCL_HOSTID")) {
    snprintf(settings.nccl_hostid, sizeof(settings.nccl_hostid), "%s", hostid);
  }
}

void DescribeSettings(const Settings& settings, char* text, uint64_t size) {
  const auto megabytes = [](uint64_t bytes) { return static_cast<unsigned long long>(bytes >> 20); };
  const auto thousandths = [](uint64_t bytes) {
    return static_cast<unsigned long long>((bytes & 0xFFFFF) * 1000 >> 20);
  };
  snprintf(text, size,
           "NCCL_TRACE_DIR=%.255s NCCL_TRACE_MODE=%s NCCL_TRACE_RING_MB=%llu.%03llu NCCL_TRACE_MAX_MB=%llu.%03llu "
           "NCCL_TRACE_EVENTS=0x%llx NCCL_TRACE_SAMPLE=%llu%s%s",
           settings.directory, settings.mode == rank_file::kStream ? "stream" : "flight",
           megabytes(settings.ring_bytes), thousandths(settings.ring_bytes), megabytes(settings.max_bytes),
           thousandths(settings.max_bytes), static_cast<unsigned long long>(settings.event_mask),
           static_cast<unsigned long long>(settings.sample_every),
           settings.ring_place == RingPlace::kChoose ? "" : " NCCL_TRACE_RING_DIR=",
           settings.ring_place == RingPlace::kChoose  ? ""
           : settings.ring_place == RingPlace::kGiven ? settings.ring_directory
                                                      : "none");
  const auto add = [&](const char* name, const char* value) {
    const uint64_t used = strlen(text);
    if (value[0] != '\0' && used < size) snprintf(text + used, size - used, " %s=%s", name, value);
  };
  add("NCCL_TRACE_KEEP", settings.retention.keep);
  add("NCCL_TRACE_PRUNE_EVEN", settings.retention.even);
  add("NCCL_TRACE_CHAIN", settings.chain != nullptr ? settings.chain : "");
}

}  // namespace nccl_trace
