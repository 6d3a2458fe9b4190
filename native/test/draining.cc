// The drainer and the chunk file without a thread: time is an argument, and producers stop where the test wants.
//
//   draining <folder>
//
// Records are stops, whose handle is their number.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "plugin/persist/drainer.h"
#include "plugin/persist/rank_file_header.h"
#include "plugin/record/ring.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace;
using namespace nccl_trace_test;

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kCapacity = 256;  // of the smallest rings
constexpr uint64_t kInterval = 5'000'000;

std::string folder;

// How the disk behaves. See the functions at the end.
uint64_t bytes_left = ~uint64_t{0};
bool punches = true;
bool header_fails = false;
uint64_t block = 4'096;       // smallest unit that is freed
uint64_t reported_block = 0;  // as fstatfs says. 0: block

using Outcome = Drainer::Outcome;

class Stage {
 public:
  explicit Stage(uint64_t max_bytes = 0, uint64_t ring_bytes = 64 << 10,
                 rank_file::Placement placement = rank_file::kInFile) {
    static int number = 0;
    path_ = folder + "/" + std::to_string(number++) + ".bin";
    layout_ = MakeFileLayout(ring_bytes, {1, true});
    settings_ = std::make_unique<Settings>();
    settings_->mode = rank_file::kStream;
    settings_->max_bytes = max_bytes;
    settings_->ring_bytes = ring_bytes;
    settings_->sample_every = 1;
    fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK(fd_ >= 0);
    CHECK_EQ(ftruncate(fd_, static_cast<off_t>(layout_.file_bytes)), 0);
    const bool in_file = placement == rank_file::kInFile;
    void* memory = mmap(nullptr, layout_.file_bytes, PROT_READ | PROT_WRITE,
                        in_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, in_file ? fd_ : -1, 0);
    CHECK(memory != MAP_FAILED);
    image_ = {static_cast<uint8_t*>(memory), layout_.file_bytes, placement};
    const HostFacts host;
    WriteHeader(image_, {settings_.get(),
                         &host,
                         &layout_,
                         uint64_t{0x8101} << 48,
                         1,
                         0,
                         rank_file::kTickTsc,
                         1'000'000'000,
                         {0, 0, 1'700'000'000'000'000'000, 1, 1},
                         ""});
    Store(image_.header().life, uint32_t{rank_file::kRecording});
    if (!in_file) CHECK_EQ(pwrite(fd_, image_.base, image_.bytes, 0), image_.bytes);
    CHECK(chunks_.Allocate() && drainer_.Allocate());
    chunks_.Use(fd_, image_);
    drainer_.Use(image_, &layout_, &chunks_);
    for (uint32_t i = 0; i <= layout_.overflow; ++i) {
      rings_[i].slots = image_.slots(layout_.areas[i]);
      rings_[i].mask = layout_.areas[i].capacity - 1;
      rings_[i].live = image_.live(layout_.areas[i]);
      rings_[i].shared = i == layout_.overflow;
    }
  }
  ~Stage() {
    close(fd_);
    munmap(image_.base, image_.bytes);
  }

  void Add(uint32_t ring, uint64_t records) {
    for (uint64_t i = 0; i < records; ++i) {
      const uint64_t tick = ++tick_;
      Append(rings_[ring], rank_file::kStop, tick, tick, 0);
    }
  }
  Outcome DrainOnce() { return drainer_.DrainOnce(now_ += kInterval); }
  void DrainUntilIdle() {
    while (DrainOnce() == Outcome::kDrained) {
    }
  }
  void Wait(uint64_t ns) { now_ += ns; }
  uint64_t Sleep() const { return drainer_.NextDue(now_) - now_; }

  Ring& ring(uint32_t i) { return rings_[i]; }
  uint32_t overflow() const { return layout_.overflow; }
  int fd() const { return fd_; }
  const std::string& path() const { return path_; }
  RankFileReader Read() const { return RankFileReader(path_); }
  uint64_t DiskBytes() const {
    struct stat file;
    CHECK_EQ(stat(path_.c_str(), &file), 0);
    return static_cast<uint64_t>(file.st_blocks) * 512;
  }

 private:
  std::string path_;
  std::unique_ptr<Settings> settings_;
  FileLayout layout_;
  int fd_;
  Image image_;
  ChunkFile chunks_ = {};
  Drainer drainer_ = {};
  Ring rings_[kMaxLayoutRings];
  uint64_t tick_ = 0;
  uint64_t now_ = kSecond;
};

void ExpectGaps(const RankFileReader& file, uint32_t ring, const std::vector<Span>& expected) {
  const std::vector<Span> gaps = file.Gaps(ring);
  for (const Span& gap : gaps) printf("gap of ring %u: [%" PRIu64 ", %" PRIu64 ")\n", ring, gap.begin, gap.end);
  CHECK_EQ(gaps.size(), expected.size());
  for (size_t i = 0; i < gaps.size(); ++i) {
    CHECK_EQ(gaps[i].begin, expected[i].begin);
    CHECK_EQ(gaps[i].end, expected[i].end);
  }
}

// Nothing is copied before there is a chunk's worth, then everything exactly once.
void DrainingIsLazy() {
  Stage stage;
  CHECK_EQ(stage.ring(1).mask + 1, kCapacity);
  stage.Add(1, kCapacity / 2 - 1);
  CHECK(stage.DrainOnce() == Outcome::kIdle);
  CHECK_EQ(stage.Read().header().chunks_begin, 0);
  stage.Add(1, 1);
  CHECK(stage.DrainOnce() == Outcome::kDrained);
  for (uint64_t lap = 0; lap < 20; ++lap) {
    stage.Add(1, kCapacity / 2);
    CHECK(stage.DrainOnce() == Outcome::kDrained);
    CHECK(stage.DrainOnce() == Outcome::kIdle);
  }
  const RankFileReader file = stage.Read();
  CHECK_EQ(file.chunks().size(), 21);
  CHECK_EQ(file.header().chunks_begin, file.header().chunks_offset);
  CHECK(file.header().chunks_end > file.chunks().back().offset);
  ExpectGaps(file, 1, {});
  uint64_t expected = 0;
  for (const Record& record : file.Records(1)) CHECK_EQ(record.handle(), ++expected);
  CHECK_EQ(expected, kCapacity / 2 * 21);
  for (const Chunk& chunk : file.chunks()) {
    CHECK_EQ(chunk.header.first_tick, chunk.header.first_position + 1);
    CHECK_EQ(chunk.header.last_tick, chunk.header.end_position);
  }
}

// A chunk ends with a whole record.
void RecordsStayWhole() {
  Stage stage;
  Ring& ring = stage.ring(0);
  for (uint64_t at = 0; at < 10 * ring.mask; at += 3) {
    const uint64_t position = Prepare(ring, 3);
    for (uint32_t part = 0; part < 3; ++part) Put(ring, rank_file::kStartP2p, position, part, 3, at + 1, part, 0);
    Commit(ring, position, 3);
    stage.DrainOnce();
  }
  const RankFileReader file = stage.Read();
  CHECK(file.chunks().size() > 10);
  for (const Chunk& chunk : file.chunks()) CHECK_EQ(chunk.header.first_position % 3, 0);
  ExpectGaps(file, 0, {});
}

// The recorder's thread was stopped for long: missed positions are one exact gap, and draining goes on after it.
void ALappedRingLeavesAGap() {
  Stage stage;
  stage.Add(1, 1'000);
  stage.DrainUntilIdle();
  ExpectGaps(stage.Read(), 1, {{0, 1'000 - kCapacity}});
  stage.Add(1, 600);
  stage.DrainUntilIdle();
  stage.Add(1, kCapacity / 2);
  stage.DrainUntilIdle();
  const RankFileReader file = stage.Read();
  // One record's slots could have been overwritten during the copy, so the oldest of them are not in the chunk.
  ExpectGaps(file, 1,
             {{0, 1'000 - kCapacity + rank_file::kMaxParts}, {1'000, 1'600 - kCapacity + rank_file::kMaxParts}});
}

// The producer is writing the first slot of the next lap: the slot counts for neither lap.
void AHalfOverwrittenSlotIsNoRecord() {
  Stage stage;
  stage.Add(1, kCapacity);
  Store(stage.ring(1).slots[0].words[0], uint64_t{77'777});
  CHECK(stage.DrainOnce() == Outcome::kDrained);
  const RankFileReader file = stage.Read();
  CHECK_EQ(file.chunks().at(0).header.first_position, rank_file::kMaxParts);
  ExpectGaps(file, 1, {{0, 1}});
}

// A thread took positions of the shared ring and sleeps. The drainer waits for it, but not until the ring is overwritten.
void HolesAreWaitedForNotForEver() {
  Stage stage;
  const uint32_t shared = stage.overflow();
  Ring& ring = stage.ring(shared);
  stage.Add(shared, 10);
  const uint64_t forgotten = Prepare(ring, 1);
  stage.Add(shared, 10);
  const uint64_t late = Prepare(ring, 2);
  stage.Add(shared, kCapacity / 2);
  CHECK(stage.DrainOnce() == Outcome::kIdle);
  CHECK(stage.Sleep() >= kSecond / 1'000);
  stage.Add(shared, kCapacity / 4);
  CHECK(stage.DrainOnce() == Outcome::kDrained);
  ExpectGaps(stage.Read(), shared, {{forgotten, forgotten + 1}, {late, late + 2}});
  // When it is filled later, readers find it in the ring, though its place in the chunk is empty.
  for (uint32_t part = 0; part < 2; ++part) Put(ring, rank_file::kFold, late, part, 2, 1, 2, 3);
  ExpectGaps(stage.Read(), shared, {{forgotten, forgotten + 1}});
}

// The fullest ring is first, and all rings get a turn.
void SeveralRings() {
  Stage stage;
  for (int lap = 0; lap < 8; ++lap) {
    for (uint32_t ring = 0; ring <= stage.overflow(); ++ring) stage.Add(ring, kCapacity / 2 + ring);
    stage.DrainUntilIdle();
  }
  const RankFileReader file = stage.Read();
  for (uint32_t ring = 0; ring <= stage.overflow(); ++ring) ExpectGaps(file, ring, {});
}

constexpr uint64_t kLimit = 3 << 20;
constexpr uint64_t kSlack = 4 << 20;  // of the size, beyond the limit

/** What the file must hold after `turns` half laps: the newest chunks, none missing between them. */
void ExpectNewest(const RankFileReader& file, uint64_t turns, uint64_t fewest) {
  const uint64_t kept = file.chunks().size();
  CHECK(kept >= fewest);
  uint64_t lowest = ~uint64_t{0};
  for (const Chunk& chunk : file.chunks()) lowest = std::min(lowest, chunk.offset);
  CHECK(file.header().chunks_begin <= lowest);
  CHECK_EQ(file.chunks().back().header.sequence, turns - 1);
  CHECK_EQ(file.chunks()[0].header.sequence, turns - kept);
  const uint64_t oldest = file.chunks()[0].header.first_position;
  CHECK_EQ(oldest, (turns - kept) * kCapacity / 2);
  ExpectGaps(file, 1, {{0, oldest}});
}

/** Writes several times as much as the limit allows. */
void Outgrow(Stage& stage, uint64_t turns) {
  uint64_t most = 0;
  for (uint64_t turn = 0; turn < turns; ++turn) {
    stage.Add(1, kCapacity / 2);
    CHECK(stage.DrainOnce() == Outcome::kDrained);
    const uint64_t bytes = stage.DiskBytes();
    CHECK(bytes <= kLimit);
    most = bytes > most ? bytes : most;
  }
  printf("at most %" PRIu64 " of %" PRIu64 " bytes on disk\n", most, kLimit);
}

// The file is limited by disk space and, a little above it, by size. The newer lap lies before the older one, then
// after it again.
void TheLimitKeepsTheNewest() {
  Stage stage(kLimit);
  uint64_t turns = 0;
  uint64_t laps = 0;
  bool was_before = false;
  for (int step = 0; step < 12; ++step) {
    Outgrow(stage, 351);
    turns += 351;
    const RankFileReader file = stage.Read();
    CHECK(file.size() <= kLimit + kSlack);
    const bool is_before = file.chunks().back().offset < file.chunks()[0].offset;
    laps += is_before && !was_before;
    was_before = is_before;
    if (turns > 1'000) ExpectNewest(file, turns, 300);
  }
  CHECK(laps >= 2);
}

// The disk is full in the newer lap: half a chunk is freed again, and the older lap stays.
void AFullDiskInTheNewerLap() {
  Stage stage(kLimit);
  uint64_t turns = 0;
  do {
    Outgrow(stage, 300);
    turns += 300;
  } while (stage.Read().chunks().back().offset > stage.Read().chunks()[0].offset);
  const size_t before = stage.Read().chunks().size();
  stage.Add(1, kCapacity / 2);
  bytes_left = 200;
  CHECK(stage.DrainOnce() == Outcome::kFailed);
  bytes_left = ~uint64_t{0};
  CHECK(stage.Read().chunks().size() >= before - 1);  // one may have been deleted to make room
  ExpectNewest(stage.Read(), turns, 300);
  stage.Wait(kSecond);
  CHECK(stage.DrainOnce() == Outcome::kDrained);
  ExpectNewest(stage.Read(), turns + 1, 300);
  printf("two laps: %s, %zu records\n", stage.path().c_str(), stage.Read().Records(1).size());
}

// The file system frees only larger blocks: no block is left over at the borders.
void LargeBlocks() {
  block = 64 << 10;
  Stage stage(kLimit);
  Outgrow(stage, 1'500);
  block = 4'096;
  ExpectNewest(stage.Read(), 1'500, 200);
}

// The file system reports large blocks only as its preferred transfer size: there is still room.
void LargeTransfers() {
  reported_block = 1 << 20;
  Stage stage(kLimit);
  Outgrow(stage, 1'500);
  reported_block = 0;
  ExpectNewest(stage.Read(), 1'500, 200);
}

// The header cannot be written: no newer lap begins, and the newest chunks are found.
void AHeaderThatCannotBeWritten() {
  Stage stage(kLimit, 64 << 10, rank_file::kInMemory);
  Outgrow(stage, 1'000);
  header_fails = true;
  Outgrow(stage, 1'100);
  ExpectNewest(stage.Read(), 2'100, 300);
  CHECK(stage.Read().size() > kLimit + kSlack);
  header_fails = false;
  // The newer lap begins at different places of a lap, depending on the size of the chunks.
  bool has_turned = false;
  for (int i = 0; i < 12; ++i) {
    Outgrow(stage, 50);
    const RankFileReader file = stage.Read();
    has_turned |= file.chunks().back().offset < file.chunks()[0].offset;
  }
  CHECK(has_turned);
  ExpectNewest(stage.Read(), 2'700, 300);
  Outgrow(stage, 600);
  CHECK(stage.Read().size() <= kLimit + kSlack);
}

void WithoutHolesItBeginsAgain() {
  punches = false;
  Stage stage(kLimit);
  Outgrow(stage, 3'000);
  punches = true;
  const RankFileReader file = stage.Read();
  CHECK(file.size() <= kLimit);
  CHECK(!file.chunks().empty());
  CHECK_EQ(file.chunks()[0].offset, file.header().chunks_offset);
  ExpectGaps(file, 1, {{0, file.chunks()[0].header.first_position}});
}

// The disk becomes full at any point: written chunks are whole, writing is tried again a second later, and nothing that
// is still in the ring is lost.
void AFullDisk() {
  uint64_t failures = 0;
  for (uint64_t left = 0;; left += 9) {
    Stage stage;
    stage.Add(1, kCapacity / 2);
    CHECK(stage.DrainOnce() == Outcome::kDrained);
    const uint64_t before = stage.Read().size();
    stage.Add(1, kCapacity / 2);
    bytes_left = left;
    const Outcome outcome = stage.DrainOnce();
    bytes_left = ~uint64_t{0};
    if (outcome == Outcome::kDrained) break;
    ++failures;
    CHECK(outcome == Outcome::kFailed);
    CHECK(stage.Read().size() <= before + rank_file::kChunkAlignment);
    CHECK_EQ(stage.Read().chunks().size(), 1);
    CHECK(stage.DrainOnce() == Outcome::kIdle);
    CHECK(stage.Sleep() <= kSecond && stage.Sleep() >= kSecond / 2);
    stage.Wait(kSecond);
    CHECK(stage.DrainOnce() == Outcome::kDrained);
    CHECK_EQ(stage.Read().chunks().size(), 2);
    ExpectGaps(stage.Read(), 1, {});
  }
  printf("%" PRIu64 " kinds of half a chunk\n", failures);
  CHECK(failures > 20);
}

// The job has closed our descriptor and reused its number: that file is not changed.
void ADescriptorThatIsNoLongerOurs() {
  Stage stage;
  const std::string other = folder + "/other";
  const int fd = open(other.c_str(), O_RDWR | O_CREAT, 0600);
  CHECK_EQ(write(fd, "precious", 8), 8);
  CHECK_EQ(dup2(fd, stage.fd()), stage.fd());
  stage.Add(1, kCapacity);
  CHECK(stage.DrainOnce() == Outcome::kFailed);
  struct stat file;
  CHECK_EQ(fstat(fd, &file), 0);
  CHECK_EQ(file.st_size, 8);
  close(fd);
}

// The thread's sleep is short enough for a burst of a million slots a second, and it does not spin.
void Sleeping() {
  Stage stage(0, 64 << 20);
  CHECK(stage.DrainOnce() == Outcome::kIdle);
  printf("idle: %" PRIu64 " us\n", stage.Sleep() / 1'000);
  CHECK(stage.Sleep() >= 10'000'000);
  const uint64_t smallest = stage.ring(2).mask + 1;
  CHECK(stage.Sleep() * 1'000'000 / kSecond <= smallest);
  for (int i = 0; i < 50; ++i) {
    stage.Add(0, 10 * kInterval / 1'000);  // ten million a second
    stage.DrainUntilIdle();
    CHECK(stage.Sleep() * 10'000'000 / kSecond <= stage.ring(0).mask / 2);
    CHECK(stage.Sleep() >= 1'000'000);
  }
  printf("busy: %" PRIu64 " us\n", stage.Sleep() / 1'000);
}

}  // namespace

// Replace the C library's functions.
extern "C" {

ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  if (bytes_left == 0 || (header_fails && offset < static_cast<off_t>(rank_file::kHeaderBytes))) {
    errno = ENOSPC;
    return -1;
  }
  const size_t now = bytes < bytes_left ? bytes : bytes_left;
  if (bytes_left != ~uint64_t{0}) bytes_left -= now;
  CHECK_EQ(lseek(fd, offset, SEEK_SET), offset);
  return write(fd, data, now);
}

int fallocate(int fd, int mode, off_t offset, off_t bytes) {
  static const auto next = reinterpret_cast<int (*)(int, int, off_t, off_t)>(dlsym(RTLD_NEXT, "fallocate"));
  if (!punches) {
    errno = EOPNOTSUPP;
    return -1;
  }
  // A block that is freed in part is overwritten with zeros.
  const uint64_t from = static_cast<uint64_t>(offset);
  const uint64_t to = from + static_cast<uint64_t>(bytes);
  const uint64_t first = (from + block - 1) / block * block;
  const uint64_t last = to / block * block;
  const auto clear = [&](uint64_t at, uint64_t end) {
    const std::vector<char> zeros(block);
    for (; at < end; at = std::min(end, at + block)) {
      CHECK(pwrite(fd, zeros.data(), std::min(end - at, block), static_cast<off_t>(at)) > 0);
    }
  };
  if (first >= last) {
    clear(from, to);
    return 0;
  }
  clear(from, first);
  clear(last, to);
  return next(fd, mode, static_cast<off_t>(first), static_cast<off_t>(last - first));
}

int fstatfs(int fd, struct statfs* fs) noexcept {
  static const auto next = reinterpret_cast<int (*)(int, struct statfs*)>(dlsym(RTLD_NEXT, "fstatfs"));
  const int result = next(fd, fs);
  fs->f_bsize = static_cast<decltype(fs->f_bsize)>(reported_block != 0 ? reported_block : block);
  return result;
}

}  // extern "C"

int main(int, char** argv) {
  folder = argv[1];
  CHECK_EQ(mkdir(folder.c_str(), 0700), 0);
  DrainingIsLazy();
  RecordsStayWhole();
  ALappedRingLeavesAGap();
  AHalfOverwrittenSlotIsNoRecord();
  HolesAreWaitedForNotForEver();
  SeveralRings();
  TheLimitKeepsTheNewest();
  AFullDiskInTheNewerLap();
  LargeBlocks();
  LargeTransfers();
  AHeaderThatCannotBeWritten();
  WithoutHolesItBeginsAgain();
  AFullDisk();
  ADescriptorThatIsNoLongerOurs();
  Sleeping();
  return Passed();
}
