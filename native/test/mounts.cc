// Disks around a job: folders that vanish, mounts that hang or are full, all kinds of file systems.
//
//   mounts <plugin.so> <folder> <case> [how much: 1 is a sample]
//
// Prints SKIPPED instead of PASSED where this machine does not let us make the situation.

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <chrono>
#include <fstream>
#include <map>

#include "test/job.h"

using namespace nccl_trace_test;

namespace {

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void OwnMounts() {
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    Skip("cannot have mounts of our own");
  }
}

void RemoveTree(const std::string& tree) { CHECK_EQ(system(("rm -rf '" + tree + "'").c_str()), 0); }

/** The only ring file below a folder of them, or "". */
std::string RingFileIn(const std::string& rings) {
  std::string found;
  DIR* entries = opendir(rings.c_str());
  while (const dirent* entry = entries != nullptr ? readdir(entries) : nullptr) {
    if (entry->d_name[0] != '.') found = rings + "/" + entry->d_name;
  }
  if (entries != nullptr) closedir(entries);
  return found;
}

// The folder is deleted while the job runs: recording has no file any more, and the job goes on.
void FolderDeleted() {
  for (const char* place : {"none", "beside"}) {
    for (const char* mode : {"flight", "stream"}) {
      if (much == 1 && (place[0] == 'n') != (mode[0] == 's')) continue;
      InChild([&] {
        const std::string rings = folder + ".rings";
        mkdir(rings.c_str(), 0700);
        setenv("NCCL_TRACE_RING_DIR", strcmp(place, "none") == 0 ? "none" : rings.c_str(), 1);
        setenv("NCCL_TRACE_MODE", mode, 1);
        Nccl nccl(library);
        void* context = nccl.Init();
        CallMany(nccl, context, 1'000);
        RemoveTree(folder);
        RemoveTree(rings);
        CallMany(nccl, context, 200'000);
        if (place[0] == 'b') usleep(2'200'000);  // past the next copy
        CallMany(nccl, context, 1'000);
        nccl.Finalize(context);
        void* again = nccl.Init();
        CHECK(again != nullptr);
        CallMany(nccl, again, 1'000);
        nccl.Finalize(again);
        CHECK(access(path.c_str(), F_OK) != 0);
      });
    }
  }
}

// A FUSE server that never answers: any thread that touches the mount waits for ever. NCCL's threads do not.
void HangingMount() {
  OwnMounts();
  CHECK_EQ(mkdir(folder.c_str(), 0755), 0);
  const int server = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (server < 0) Skip("no FUSE");
  const std::string options = "fd=" + std::to_string(server) + ",rootmode=40000,user_id=0,group_id=0";
  if (mount("no answer", folder.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) Skip("cannot mount FUSE");
  const std::string base = folder + ".rings";
  CHECK_EQ(mkdir(base.c_str(), 0700), 0);
  const std::string rings = base + "/nccl-trace-" + std::to_string(geteuid());
  for (const bool with_ring_file : {false, true}) {
    InChild([&] {
      setenv("NCCL_TRACE_RING_DIR", with_ring_file ? base.c_str() : "none", 1);
      Nccl nccl(library);
      const double start = SecondsNow();
      void* context = nccl.Init();
      printf("init took %.2f s\n", SecondsNow() - start);
      CHECK(context != nullptr);
      CHECK(nccl.mask() != 0);
      CHECK_EQ(Lines().warnings.size(), 1);
      printf("%s\n", Lines().warnings[0].c_str());
      CHECK(Lines().warnings[0].find("not there after 1.7 s") != std::string::npos);
      CallMany(nccl, context, 1'000);
      nccl.Finalize(context);
      // And a second beginning, while the thread still waits.
      context = nccl.Init();
      CallMany(nccl, context, 1'000);
      fflush(stdout);
    });
  }
  // The ring file has what could not be written elsewhere, and the path of its rank file.
  const std::string left = RingFileIn(rings);
  const RankFileReader ring_file(left);
  CHECK_EQ(KindIn(ring_file, rank_file::kStartColl), 2'000);
  std::ifstream in(left, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(ring_file.header().chunks_offset));
  std::string home;
  std::getline(in, home, '\0');
  CHECK(home == path);
  umount2(folder.c_str(), MNT_DETACH);
  close(server);
}

// The disk is full from the beginning: the ring file has everything, stays when the process ends, and is saved by the
// next one that finds room.
void DiskFullThenNot() {
  OwnMounts();
  CHECK_EQ(mkdir(folder.c_str(), 0755), 0);
  if (mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") != 0) Skip("cannot mount a tmpfs");
  const std::string base = folder + ".rings";
  CHECK_EQ(mkdir(base.c_str(), 0700), 0);
  setenv("NCCL_TRACE_RING_DIR", base.c_str(), 1);
  InChild([] {
    Nccl nccl(library);
    void* context = nccl.Init();
    CHECK_EQ(Lines().warnings.size(), 1);
    if (!IsAllWell()) {  // otherwise the disk had not answered yet
      CHECK(Lines().warnings[0].find("No space left on device; recording into /") != std::string::npos);
    }
    CallMany(nccl, context, 1'000);
    nccl.Finalize(context);
  });
  // There may be a beginning of the rank file, because the process may have ended during another attempt.
  CHECK_EQ(mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT, "size=100m"), 0);
  InChild([] {
    setenv("RANK", "1", 1);
    Nccl nccl(library);
    void* context = nccl.Init();
    // Once the file exists it is being written. The ring file is removed when it is complete.
    const std::string rings = folder + ".rings/nccl-trace-" + std::to_string(geteuid());
    Await("saved", [&] { return EntriesOf(rings) == 1; });
    nccl.Finalize(context);
  });
  const RankFileReader saved(path + ".rings");
  CHECK_EQ(KindIn(saved, rank_file::kStartColl), 1'000);
  CHECK_EQ(saved.header().life, rank_file::kClosed);
}

/** Expects that fallocate fails here. */
void ExpectNoFallocate() {
  const std::string name = folder + "/probe";
  const int fd = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  CHECK(fd >= 0);
  if (fallocate(fd, 0, 0, 1 << 12) == 0 || errno != EOPNOTSUPP) Skip("here this file system can do it");
  close(fd);
  unlink(name.c_str());
}

uint64_t FreeBytes() {
  struct statfs fs;
  CHECK_EQ(statfs(folder.c_str(), &fs), 0);
  return fs.f_bavail * static_cast<uint64_t>(fs.f_bsize);
}

// A file system that cannot reserve room: zeros are written. If the disk is full, the ring file has everything, and the
// partial rank file is removed.
void WithoutFallocate() {
  OwnMounts();
  CHECK_EQ(mkdir(folder.c_str(), 0755), 0);
  const std::string base = folder + ".rings";
  CHECK_EQ(mkdir(base.c_str(), 0700), 0);
  if (mount("tmpfs", base.c_str(), "tmpfs", 0, "size=64m") != 0) Skip("cannot mount a tmpfs");
  setenv("NCCL_TRACE_RING_DIR", base.c_str(), 1);
  if (mount("ramfs", folder.c_str(), "ramfs", 0, nullptr) != 0) Skip("cannot mount a ramfs");
  ExpectNoFallocate();
  InChild([] {
    Nccl nccl(library);
    void* context = nccl.Init();
    CHECK(IsAllWell());
    Await("the rank file", [] { return HeaderOf(path).life == rank_file::kRecording; });
    struct stat made;
    CHECK_EQ(stat(path.c_str(), &made), 0);
    CHECK(static_cast<uint64_t>(made.st_size) >= HeaderOf(path).chunks_offset);
    CallMany(nccl, context, 1'000);
    nccl.Finalize(context);
    AwaitClosed(path);
  });
  CHECK_EQ(KindIn(RankFileReader(path), rank_file::kStartColl), 1'000);

  // Remove what the process may have left, so that nobody saves it.
  const std::string rings = base + "/nccl-trace-" + std::to_string(geteuid());
  RemoveTree(rings);
  CHECK_EQ(umount(folder.c_str()), 0);
  const std::string image = "'" + folder + ".img'";
  const std::string make = "(truncate -s 4M " + image + " && mkfs.ext2 -q -F " + image + " && mount -o loop " + image +
                           " '" + folder + "') >/dev/null 2>&1";
  if (system(make.c_str()) != 0) {
    puts("not here: mkfs.ext2");
    return;
  }
  ExpectNoFallocate();
  const uint64_t before = FreeBytes();
  InChild([&] {
    setenv("RANK", "1", 1);
    Nccl nccl(library);
    void* context = nccl.Init();
    if (IsTooLate()) return;
    const std::string ring_file = RingFileIn(rings);
    Await("an attempt", [&] { return HeaderOf(ring_file).io_errors > 0; });
    const std::string half = folder + "/rank00001.bin";
    Await("room", [&] { return access(half.c_str(), F_OK) != 0 && FreeBytes() == before; });
    CallMany(nccl, context, 1'000);
    CHECK_EQ(KindIn(RankFileReader(ring_file), rank_file::kStartColl), 1'000);
    puts("room was given back");
    fflush(stdout);
    _exit(0);  // without another attempt
  });
  CHECK_EQ(system(("umount '" + folder + "'; rm " + image).c_str()), 0);
}

// All file systems this machine can make and mount, and overlayfs on top of them: rings are mapped only where a store
// cannot fail, and nothing is lost on any of them.
void FileSystems() {
  OwnMounts();
  CHECK_EQ(mkdir(folder.c_str(), 0755), 0);
  int tried = 0;
  for (const auto& [make, may_be_mapped] :
       {std::pair<const char*, bool>{"mkfs.ext4 -q", true}, {"mkfs.xfs -q", true}, {"mkfs.btrfs -q", false}}) {
    const std::string name = folder + "/" + std::to_string(tried);
    const auto shell = [&](const std::string& command) { return system((command + " >/dev/null 2>&1").c_str()) == 0; };
    const std::string place = "'" + name + "'";
    if (!shell("truncate -s 320M " + place + ".img && " + make + " " + place + ".img && mkdir " + place +
               " && mount -o loop " + place + ".img " + place)) {
      printf("not here: %s\n", make);
      continue;
    }
    ++tried;
    CHECK(shell("mkdir " + place + "/u " + place + "/w " + place + "/l " + place + "/o"));
    const bool has_overlay = shell("mount -t overlay overlay -o lowerdir=" + name + "/l,upperdir=" + name +
                                   "/u,workdir=" + name + "/w " + place + "/o");
    for (const bool over : {false, true}) {
      if (over && !has_overlay) continue;
      const std::string run = name + (over ? "/o/run" : "/run");
      InChild([&] {
        setenv("NCCL_TRACE_DIR", run.c_str(), 1);
        setenv("NCCL_TRACE_MODE", "stream", 1);
        Nccl nccl(library);
        void* context = nccl.Init();
        for (const std::string& warning : Lines().warnings) printf("%s\n", warning.c_str());
        CallMany(nccl, context, 200'000);
        nccl.Finalize(context);
      });
      const RankFileReader file(run + "/rank00000.bin");
      printf("%s%s: placement %u\n", make, over ? ", overlay" : "", file.header().placement);
      CHECK_EQ(file.header().placement, may_be_mapped ? rank_file::kInFile : rank_file::kInMemory);
      uint64_t missing = 0;
      const uint64_t found = KindIn(file, rank_file::kStartColl, &missing);
      CHECK_EQ(found * 4 + missing, 800'000);  // slots
    }
    shell("umount " + place + "/o; umount " + place + "; rm " + place + ".img");
  }
  if (tried == 0) Skip("no file system can be made and mounted");
}

}  // namespace

int main(int argc, char** argv) {
  UseArguments(argc, argv);
  const std::map<std::string, void (*)()> cases = {{"folder-deleted", FolderDeleted},
                                                   {"hanging-mount", HangingMount},
                                                   {"disk-full-then-not", DiskFullThenNot},
                                                   {"without-fallocate", WithoutFallocate},
                                                   {"file-systems", FileSystems}};
  cases.at(argv[3])();
  return Passed();
}
