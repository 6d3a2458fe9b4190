// A job closes our descriptors and reuses their numbers for its own files, which we must not change.
//
//   descriptors <folder>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "plugin/persist/file_copy.h"
#include "plugin/persist/rank_file_header.h"
#include "test/check.h"

using namespace nccl_trace;
using namespace nccl_trace_test;

namespace {

constexpr const char* kPrecious = "precious";

std::string folder;

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/** A file of the job, which gets the number `fd`. */
class Stranger {
 public:
  explicit Stranger(int fd) : fd_(fd) {
    static int number = 0;
    path_ = folder + "/stranger" + std::to_string(number++);
    const int file = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK_EQ(write(file, kPrecious, strlen(kPrecious)), strlen(kPrecious));
    CHECK_EQ(lseek(file, 0, SEEK_SET), 0);
    CHECK_EQ(dup2(file, fd), fd);
    close(file);
  }
  void ExpectUntouched() const {
    CHECK(Content(path_) == kPrecious);
    CHECK_EQ(lseek(fd_, 0, SEEK_CUR), 0);  // still open, and nothing was read from it
  }

 private:
  int fd_;
  std::string path_;
};

void CopyOfAFile() {
  const std::string path = folder + "/rank.bin";
  const auto settings = std::make_unique<Settings>();
  const FileLayout layout = MakeFileLayout(64 << 10, {1, true});
  void* memory = mmap(nullptr, layout.file_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  const Image image = {static_cast<uint8_t*>(memory), layout.file_bytes, rank_file::kInMemory};
  const HostFacts host;
  WriteHeader(image, {settings.get(),
                      &host,
                      &layout,
                      uint64_t{0x8101} << 48,
                      1,
                      0,
                      rank_file::kTickTsc,
                      1'000'000'000,
                      {0, 0, 1'700'000'000'000'000'000, 1, 1},
                      ""});
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  const auto copy = std::make_unique<FileCopy>();
  copy->Use(fd, &layout);
  CHECK(copy->CopyHeader(image) && copy->CopyAreas(image, nullptr) && !copy->is_lost());

  const Stranger stranger(fd);
  for (int i = 0; i < 2; ++i) {
    CHECK(!copy->CopyAreas(image, nullptr));
    CHECK(!copy->CopyTable(image, layout.heartbeat));
    CHECK(!copy->CopyChangingHeader(image));
    CHECK(!copy->CopyHeader(image));
    CHECK(copy->is_lost() && !copy->has_file());
  }
  // Another file has the name: it is not ours either.
  CHECK_EQ(rename(path.c_str(), (path + ".away").c_str()), 0);
  close(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
  CHECK(!copy->Reopen(path.c_str()));
  CHECK(copy->is_lost());
  CHECK_EQ(Content(path).size(), 0);

  CHECK_EQ(rename((path + ".away").c_str(), path.c_str()), 0);
  CHECK(copy->Reopen(path.c_str()));
  CHECK(copy->CopyHeader(image) && copy->CopyAreas(image, nullptr) && !copy->is_lost());
  CHECK(memcmp(Content(path).data(), memory, layout.file_bytes) == 0);
  stranger.ExpectUntouched();
  close(copy->fd());
  close(fd);
  munmap(memory, layout.file_bytes);
}

}  // namespace

int main(int, char** argv) {
  folder = argv[1];
  CHECK_EQ(mkdir(folder.c_str(), 0700), 0);
  CopyOfAFile();
  return Passed();
}
